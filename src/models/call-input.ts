// Reading a call's arguments: what is not whole JSON never becomes an input.

/** Contract: never throws. `broken` says why the call must be answered instead of executed. */
export function parseCallInput(args: string, opts: { cutShort: boolean }): { input: unknown; broken?: string } {
  if (args.trim() === "") {
    return opts.cutShort ? { input: {}, broken: CUT_SHORT } : { input: {} };
  }
  try {
    const input: unknown = JSON.parse(args);
    if (typeof input === "object" && input !== null && !Array.isArray(input)) return { input };
    return { input: {}, broken: "the arguments are not a JSON object" };
  } catch (error) {
    if (opts.cutShort) return { input: {}, broken: CUT_SHORT };
    return { input: {}, broken: `the arguments are not valid JSON (${(error as Error).message})` };
  }
}

const CUT_SHORT = "the reply reached its output limit in the middle of this call";
