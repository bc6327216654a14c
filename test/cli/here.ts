// The command line in this very process: for what needs no other, a tenth of the time.
import { main } from "../../src/cli/main.ts";
import type { CliOptions } from "./cli.ts";

/** One command in this very process: most of them need no other. Contract: not for what reads standard input or is ended by a signal. */
export async function here(
  args: string[],
  { cwd, state, env: more }: CliOptions,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { HOME: state, XDG_STATE_HOME: state, ...more };
  const said = { stdout: "", stderr: "" };
  const before = { cwd: process.cwd(), env: { ...process.env } };
  const write = { stdout: process.stdout.write, stderr: process.stderr.write };
  const take = (name: "stdout" | "stderr") =>
    ((text: string | Uint8Array, ...rest: unknown[]) => {
      said[name] += text;
      const done = rest.find((one) => typeof one === "function") as (() => void) | undefined;
      done?.();
      return true;
    }) as typeof process.stdout.write;
  const streams = [process.stdout, process.stderr];
  const listening = streams.map((stream) => stream.listeners("error"));
  process.chdir(cwd);
  Object.assign(process.env, env);
  for (const name of Object.keys(process.env)) if (/_API_KEY$/.test(name)) delete process.env[name];
  process.stdout.write = take("stdout");
  process.stderr.write = take("stderr");
  try {
    return { code: await main(args), ...said };
  } finally {
    process.stdout.write = write.stdout;
    process.stderr.write = write.stderr;
    for (const [i, stream] of streams.entries())
      for (const listener of stream.listeners("error"))
        if (!listening[i]!.includes(listener)) stream.removeListener("error", listener as () => void);
    process.chdir(before.cwd);
    for (const name of Object.keys(env)) delete process.env[name];
    Object.assign(process.env, before.env);
  }
}
