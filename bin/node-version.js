// Owns which Node Holdfast takes, and the line that says so. Old syntax only: this is what an old Node gets to read.
const NEEDED = [24, 15];

/** Undefined when this one will do. */
exports.tooOld = () => {
  const { node, bun, deno } = process.versions;
  const [major, minor] = node.split(".").map(Number);
  if (bun || deno || major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) return undefined;
  return `holdfast needs Node ${NEEDED.join(".")} or newer, this is ${process.version}: install a current one (nvm install 24, or https://nodejs.org) and try again`;
};
