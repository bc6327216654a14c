// Something that is done again while there is reason to, but not more often than that.
import { useEffect, useRef } from "preact/hooks";

/** Contract: `run` is called so long after `isDue` began, and again while it is. */
export function useEvery(ms: number, isDue: boolean, run: () => void): void {
  const newest = useRef(run);
  newest.current = run;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  // After every render: whether it is due is known only then.
  useEffect(() => {
    if (!isDue || timer.current !== undefined) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      newest.current();
    }, ms);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
}
