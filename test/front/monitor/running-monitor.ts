// The command `holdfast monitor` as it is run, and asked as its page asks; and work for it to watch.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { type CliOptions, type Exited, startCli } from "../../cli/cli.ts";
import { scratch } from "../../turn.ts";

export interface RunningMonitor {
  /** Without the token. */
  url: string;
  token: string;
  port: number;
  pid: number;
  get(path: string, headers?: Record<string, string>, signal?: AbortSignal): Promise<Response>;
  json<T>(path: string): Promise<T>;
  /** `PROJECT/c/CONTEXT`. */
  act(key: string, action: unknown): Promise<Response>;
  end(signal?: NodeJS.Signals): Promise<Exited>;
}

/** Contract: ended when the test is over. */
export async function startMonitor(opts: CliOptions, args: readonly string[] = []): Promise<RunningMonitor> {
  const running = startCli(["monitor", "--json", ...args], opts);
  const end = (signal: NodeJS.Signals = "SIGTERM") => {
    running.child.kill(signal);
    return running.exited;
  };
  onTestFinished(() => void end());
  const { url: address } = await Promise.race([
    firstLine<{ url: string }>(running.child.stdout!),
    running.exited.then(({ stderr }) => Promise.reject(new Error(`the monitor ended: ${stderr}`))),
  ]);
  const { origin: url, searchParams, port } = new URL(address);
  const token = searchParams.get("token") ?? "";
  const auth = { authorization: `Bearer ${token}` };
  const get = (path: string, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    fetch(url + path, { headers: { ...auth, ...headers }, ...(signal && { signal }) });
  return {
    ...{ url, token, port: Number(port), pid: running.child.pid!, get, end },
    json: async <T>(path: string) => (await (await get(path)).json()) as T,
    act: (key, action) =>
      fetch(`${url}/api/p/${key}/act`, {
        ...{ method: "POST", body: JSON.stringify(action) },
        headers: { ...auth, "content-type": "application/json", "x-holdfast-write": "1" },
      }),
  };
}

const firstLine = <T>(out: NodeJS.ReadableStream): Promise<T> =>
  new Promise((resolve) => {
    let text = "";
    out.on("data", (piece) => {
      text += piece;
      if (text.includes("\n")) resolve(JSON.parse(text.split("\n")[0]!) as T);
    });
  });

export async function until<T>(look: () => Promise<T | undefined> | T | undefined, everyMs = 10): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(everyMs);
  }
}

/** A project, and a model that asks for these commands one by one. */
export function scripted(commands: readonly string[]): { opts: CliOptions; args: string[] } {
  const cwd = scratch(onTestFinished);
  const state = scratch(onTestFinished);
  const script = join(state, "script.yaml");
  writeFileSync(join(cwd, "work.sh"), "#!/bin/sh\necho ran $1 >> times\n", { mode: 0o755 });
  const rounds = commands.map(
    (command) => `  - calls:\n      - { name: bash, input: { command: ${JSON.stringify(command)} } }\n`,
  );
  writeFileSync(script, `rounds:\n${rounds.join("")}  - text: finished\n`);
  return { opts: { cwd, state }, args: ["--model", `rehearsal:${script}`] };
}
