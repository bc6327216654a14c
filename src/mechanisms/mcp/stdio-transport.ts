// The process of a stdio server, and the lines to and from it. It dies with us, however we end.
import { type ChildProcess, spawn } from "node:child_process";
import type { Writable } from "node:stream";
import type { JSONRPCMessage, ReadBuffer, Transport } from "@modelcontextprotocol/client";
import { shellText } from "../../file-access/shell-file.ts";
import { messageOf } from "../../ledger/error.ts";

const LAST_WORDS = 2000;
const GRACE_MS = 1500;
const MOST_BYTES = 64 << 20;

export interface ServerProcess {
  command: readonly string[];
  env: Record<string, string>;
  cwd: string;
}

/** What of the client library it is made with: that is loaded only where a server is connected. */
interface Framing {
  ReadBuffer: new (options?: { maxBufferSize?: number }) => ReadBuffer;
  serializeMessage: (message: JSONRPCMessage) => string;
}

export interface StdioTransport extends Transport {
  /** How the process ended and what it said last, once it has ended by itself. */
  readonly ended: string | undefined;
  /** What it printed last beside the protocol. */
  readonly said: string | undefined;
}

export function createStdioTransport(of: ServerProcess, { ReadBuffer, serializeMessage }: Framing): StdioTransport {
  const buffer = new ReadBuffer({ maxBufferSize: MOST_BYTES });
  let child: ChildProcess | undefined;
  let exit: string | undefined;
  let lastWords = "";
  let exited: Promise<void> = Promise.resolve();
  /** All that it said has been read. */
  let closed: Promise<void> = Promise.resolve();
  const endOf = (): string | undefined =>
    exit === undefined ? undefined : `${exit}${lastWords.trim() === "" ? "" : `: ${tail(lastWords)}`}`;

  const read = (chunk: Buffer) => {
    try {
      buffer.append(chunk);
    } catch (error) {
      transport.onerror?.(error as Error); // a line without end
      signal("SIGKILL");
      return;
    }
    for (;;) {
      try {
        const message = buffer.readMessage();
        if (message === null) return;
        transport.onmessage?.(message);
      } catch (error) {
        transport.onerror?.(error as Error); // some servers print what is no message: that line is passed over
      }
    }
  };

  const signal = (name: NodeJS.Signals) => {
    if (child?.pid === undefined) return;
    try {
      process.kill(-child.pid, name);
    } catch {
      // it is gone
    }
  };

  const transport: StdioTransport = {
    get ended() {
      return endOf();
    },
    get said() {
      return lastWords.trim() === "" ? undefined : tail(lastWords);
    },
    async start() {
      const [command, ...args] = of.command;
      const started = spawn(
        "/bin/sh",
        ["-c", shellText(import.meta.url, "./watched.sh"), "mcp-server", command!, ...args],
        {
          cwd: of.cwd,
          env: of.env,
          detached: true, // a process group of its own
          stdio: ["pipe", "pipe", "pipe", "pipe"],
        },
      );
      child = started;
      await new Promise<void>((resolve, reject) => started.once("spawn", resolve).once("error", reject));
      exited = new Promise((resolve) => {
        started.once("exit", (code, by) => {
          (started.stdio[3] as Writable).destroy(); // the watcher ends what the server has left
          exit = by ?? `exit code ${code}`;
          resolve();
        });
      });
      closed = new Promise((resolve) => {
        started.once("close", () => {
          transport.onclose?.();
          resolve();
        });
      });
      started.stderr!.on("data", (chunk) => {
        lastWords = (lastWords + chunk).slice(-LAST_WORDS);
      });
      started.stdout!.on("data", read);
      for (const stream of started.stdio) stream?.on("error", () => undefined); // its end says it
      for (const stream of started.stdio) (stream as unknown as { unref?: () => void } | null)?.unref?.();
      started.unref(); // a server keeps no process
    },
    async send(message) {
      const { stdin } = child ?? {};
      const failed = stdin?.writable ? await written(stdin, serializeMessage(message)) : "the server has ended";
      if (failed === undefined) return;
      await within(closed, GRACE_MS); // how it ended, and its last words, say more than a broken pipe
      throw new Error(endOf() ?? failed);
    },
    async close() {
      if (!child) return;
      child.stdin?.end();
      for (const [name, ms] of [
        ["SIGTERM", GRACE_MS],
        ["SIGKILL", GRACE_MS],
      ] as const) {
        if (await within(exited, ms)) break;
        signal(name);
      }
      await within(exited, GRACE_MS);
      (child.stdio[3] as Writable).destroy();
      buffer.clear();
    },
  };
  return transport;
}

/** What went wrong; undefined when it was taken. */
const written = (to: Writable, text: string): Promise<string | undefined> =>
  new Promise((resolve) => {
    to.write(text, (error) => resolve(error ? messageOf(error) : undefined));
  });

/** Contract: true when it came in time. Its timer keeps the process: what is being closed is waited for. */
function within(promise: Promise<void>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    void promise.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

/** Of what it printed beside the protocol: the lines that name an error, else the last ones. */
function tail(text: string): string {
  const lines = text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
  const errors = lines.filter((line) => /error/i.test(line));
  return (errors.length > 0 ? errors.slice(0, 2) : lines.slice(-3)).join(" · ").slice(-400);
}
