// Completes package-lock.json with the optional packages of other platforms, which a registry that does not serve them leaves out:
// `npm ci` wants them all. Run after `npm install`: node scripts/complete-lock.mjs
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const file = path.join(path.dirname(path.dirname(fileURLToPath(import.meta.url))), "package-lock.json");
const lock = JSON.parse(fs.readFileSync(file, "utf8"));
const OS = ["android", "darwin", "win32", "freebsd", "openharmony", "linux", "netbsd", "openbsd", "sunos", "aix"];
const CPU = ["arm64", "x64", "arm", "ia32", "ppc64", "riscv64", "s390x", "loong64", "mips64el", "wasm32"];

const pick = (name, words) => words.find((word) => new RegExp(`(^|-)${word}(-|$)`).test(name));

for (const [place, parent] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(parent.optionalDependencies ?? {})) {
    const beside = place.slice(0, place.lastIndexOf("node_modules/"));
    const target = `${beside}node_modules/${name}`;
    if (lock.packages[target]) continue;
    const leaf = name
      .split("/")
      .at(-1)
      .replace("gnueabihf", "")
      .replace("musleabihf", "musl")
      .replace("arm-eabi", "arm");
    const [os, cpu] = [pick(leaf, OS), pick(leaf, CPU)];
    if (!os && cpu !== "wasm32") throw new Error(`${name}: of which platform is it?`);
    const libc = os === "linux" ? { libc: [leaf.includes("musl") ? "musl" : "glibc"] } : {};
    lock.packages[target] = {
      version: range.replace(/^[^\d]*/, ""),
      ...(cpu ? { cpu: [cpu] } : {}),
      ...(parent.dev ? { dev: true } : {}),
      ...libc,
      optional: true,
      ...(os ? { os: [os] } : {}),
    };
  }
}
const head = lock.packages[""];
delete lock.packages[""];
lock.packages = { "": head, ...Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1))) };
fs.writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
