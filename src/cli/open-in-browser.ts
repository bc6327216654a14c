// Opens an address that holds a secret in the user's browser. Everybody on the machine sees the words of a process: it is given a file that leads there.
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { HoldfastError } from "../ledger/error.ts";

/** `beside`: a file of this user's own, in whose folder the leading one is kept. Throws where no program opens it. */
export async function openInBrowser(url: string, beside: string | undefined): Promise<void> {
  const folder = beside === undefined ? fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-open-")) : path.dirname(beside);
  const file = path.join(folder, "monitor.html");
  const fresh = `${file}.${process.pid}`;
  fs.writeFileSync(fresh, `<meta http-equiv="refresh" content="0; url=${url}">\n`, { mode: 0o600 });
  fs.renameSync(fresh, file);
  await started(process.platform === "darwin" ? "open" : "xdg-open", file);
}

/** Begun is enough: what opens a browser may stay as long as that does. */
const started = (program: string, file: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, [file], { stdio: "ignore", detached: true });
    child.once("spawn", resolve);
    child.once("error", (cause) => reject(new HoldfastError("not_found", `${program} cannot be run`, { cause })));
    child.unref();
  });
