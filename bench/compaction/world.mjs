// The seeded world of one run: a folder of files with one fact each, a project rule, two requests, a decision, and the script.
import fs from "node:fs";
import path from "node:path";
import { randomFrom } from "./cli.mjs";

const NOUNS =
  `otter maple lantern harbor violin copper saddle pepper glacier walnut ribbon anchor meadow compass thimble falcon
  cactus puzzle barrel candle marble tunnel orchard kettle pebble saffron temple badger mango velvet zephyr quokka`.split(
    /\s+/,
  );
const ADJECTIVES = `amber brisk civil dusty eager frosty gentle hollow ivory jolly keen lunar
  mellow nimble opal plain quiet rapid silver tidy upper vivid warm young`.split(/\s+/);
const CHOICES = [
  ["SQLite", "Postgres", "it is embedded"],
  ["Rust", "Go", "the parser is there already"],
  ["cron", "a queue", "one host is enough"],
  ["JSON lines", "CSV", "fields hold commas"],
];
const LINES_PER_FILE = 110; // about 8 kB

export function makeWorld(seed, rounds) {
  const random = randomFrom(seed);
  const below = (n) => Math.floor(random() * n);
  const one = (list) => list[below(list.length)];
  const digits = (n) => String(below(10 ** n)).padStart(n, "0");
  const taken = new Set();
  const fresh = (make) => {
    let x;
    do x = make();
    while (taken.has(x));
    taken.add(x);
    return x;
  };
  const mark = (kind) => fresh(() => `${kind}-${one(NOUNS).toUpperCase()}-${digits(4)}`);
  const sentence = () => `Keep the ${one(ADJECTIVES)} ${one(NOUNS)} apart from the ${one(ADJECTIVES)} ${one(NOUNS)}.`;

  const files = Array.from({ length: rounds }, () => {
    const fact = fresh(() => `${one(ADJECTIVES)}-${digits(5)}-${one(NOUNS)}`);
    const thing = () => `the ${one(ADJECTIVES)} ${one(NOUNS)}`;
    const lines = Array.from({ length: LINES_PER_FILE }, (_, i) =>
      `${i + 1}: ${Array.from({ length: 5 }, thing).join(", ")}`.slice(0, 74),
    );
    lines[20 + below(70)] = `code of the ${one(NOUNS)}: ${fact}`;
    return { name: fresh(() => `data/${one(NOUNS)}-${digits(4)}.txt`), fact, text: lines.join("\n") };
  });
  const made = fresh(() => `out/${one(NOUNS)}-${digits(4)}.txt`);
  const rule = mark("RULE");
  const decision = mark("DECISION");
  const [first, firstEnd, running] = [mark("REQUEST"), mark("END"), mark("REQUEST")];
  const [chosen, other, why] = one(CHOICES);

  const read = (file) => ({ cmd: `cat ${file.name}`, file });
  const part = Math.floor(rounds / 4);
  return {
    files,
    ruleText: `Project rule ${rule}: never touch the ${one(NOUNS)} folder.\n`,
    requests: [
      `${first}: read the first files of the data folder one by one, then write a file of your own about them. ${Array.from({ length: 14 }, sentence).join(" ")} And at the end: ${firstEnd}`,
      `${running}: now read all the remaining files one by one.`,
    ],
    script: [
      ...files.slice(0, part).map(read),
      { write: { path: made, content: `written from ${part} files` } },
      { text: `First part done. ${decision}: we chose ${chosen} over ${other} because ${why}.` },
      ...files.slice(part).map(read),
      { text: "DONE" },
    ],
    /** What a harness can keep without any help from the model. */
    probes: {
      "first request": first,
      "first request, its end": firstEnd,
      "running request": running,
      "project rule (AGENTS.md)": rule,
      "decision said by the agent": decision,
      "file it wrote": made,
      "file it read early": files[0].name,
    },
  };
}

/** The read and the written folder are ignored by git: agents that list the folder in their prompt do not list them. */
export function writeWorld(world, work) {
  for (const d of ["data", "out"]) fs.mkdirSync(path.join(work, d));
  fs.writeFileSync(path.join(work, ".gitignore"), "data/\nout/\n");
  for (const name of ["AGENTS.md", "GEMINI.md"]) fs.writeFileSync(path.join(work, name), world.ruleText);
  for (const f of world.files) fs.writeFileSync(path.join(work, f.name), f.text);
}
