// Whether the window is narrow: where rows take two lines and panels stand below each other.
import { useEffect, useState } from "preact/hooks";

const NARROW = "(max-width: 699px)";

export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const look = () => setNarrow(query.matches);
    query.addEventListener("change", look);
    return () => query.removeEventListener("change", look);
  }, []);
  return isNarrow;
}
