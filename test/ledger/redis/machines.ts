// Children of a test on machines of its own: another network, disk, boot and pid namespace, as if each were another computer.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface RunningChild {
  pid: number;
  /** What it has said so far, a line each. */
  lines: object[];
  /** Resolves when it has said something like that. */
  said(isIt: (line: object, at: number) => boolean): Promise<void>;
  /** Told to end; resolves when it has, and all that it said was read. */
  end(): Promise<void>;
  kill(): Promise<void>;
}

export function startChild(script: string, args: string[], inside: string[] = []): RunningChild {
  const [program = "", ...rest] = [...inside, process.execPath, join(import.meta.dirname, "children", script), ...args];
  const child = spawn(program, rest, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.on("error", () => {}); // it has ended by itself
  const lines: object[] = [];
  const reader = createInterface(child.stdout);
  reader.on("line", (line) => lines.push(JSON.parse(line)));
  const ended = Promise.all([once(child, "exit"), once(reader, "close")]).then(([[code]]) => code);
  return {
    pid: child.pid ?? 0,
    lines,
    async said(isIt) {
      for (let seen = 0; ; ) {
        for (; seen < lines.length; seen++) if (isIt(lines[seen] ?? {}, seen)) return;
        await Promise.race([
          once(reader, "line"),
          ended.then(() => Promise.reject(new Error(`${script} ended early`))),
        ]);
      }
    },
    async end() {
      child.stdin.end();
      const code = await ended;
      if (code !== 0) throw new Error(`${script} ended with ${code}`);
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** The words around a command that make it think it runs on another computer. `dir`: where the files for it may lie. */
export function asAnotherComputer(dir: string): string[] {
  const [boot, machine] = ["boot", "machine"].map((name) => join(dir, `${name}-${randomUUID()}`));
  writeFileSync(boot!, `${randomUUID()}\n`);
  writeFileSync(machine!, `${randomUUID().replaceAll("-", "")}\n`);
  const binds = `mount --bind ${boot} /proc/sys/kernel/random/boot_id; mount --bind ${machine} /etc/machine-id; exec "$@"`;
  return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-ec", binds, "sh"];
}
