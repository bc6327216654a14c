// An answer that is asked anew when something happened: soon, and never more often than a reader could see.
import { useState } from "preact/hooks";
import { type Answered, useAnswer } from "../../parts.tsx";
import { useEvery } from "../use-every.ts";

const FRESH_MS = 500;

/** `change`: another one means that the answer may be another. */
export function useFresh<Answer>(path: string | undefined, change: number | string): Answered<Answer> {
  const answered = useAnswer<Answer>(path);
  const [asked, setAsked] = useState(change);
  useEvery(FRESH_MS, asked !== change, () => {
    setAsked(change);
    answered.again();
  });
  return answered;
}
