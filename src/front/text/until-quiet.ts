// Waits until a question was read and nobody is typing: what is typed up to then was not meant for it.
import { PAUSE_MS, READ_MS } from "../presentation/approval.ts";

/**
 * Contract: true once it stood for READ_MS and nothing was typed for PAUSE_MS, if anything was; false when the signal came first.
 * Only looks: whoever reads the input drops what comes.
 */
export function untilQuiet(input: NodeJS.ReadableStream, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const end = (isQuiet: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      input.removeListener("data", typed);
      resolve(isQuiet);
    };
    const stop = () => end(false);
    const typed = () => {
      clearTimeout(timer);
      timer = setTimeout(() => end(true), PAUSE_MS);
    };
    let timer = setTimeout(() => end(true), READ_MS);
    signal.addEventListener("abort", stop, { once: true });
    input.on("data", typed);
  });
}
