// `node bench/replay.mjs [FILE]`: how many recorded events a replay computes and compares in a second.
import path from "node:path";
import { replayFixture } from "../src/replay/fixture.ts";

const recordings = path.join(import.meta.dirname, "../test/replay/recordings");
const files = process.argv[2]
  ? [process.argv[2]]
  : ["team", "compaction", "workflow"].map((one) => path.join(recordings, `${one}.jsonl`));
for (const file of files) {
  await replayFixture(file); // what is loaded once
  const times = [];
  let events = 0;
  for (let i = 0; i < 15; i++) {
    const from = process.cpuUsage();
    ({ events } = await replayFixture(file));
    const { user, system } = process.cpuUsage(from); // the machine may have other work
    times.push((user + system) / 1000);
  }
  const middle = times.sort((a, b) => a - b)[7] ?? 0;
  console.log(
    `${path.basename(file, ".jsonl")}: ${events} events in ${middle.toFixed(1)} ms of CPU: ${Math.round((events / middle) * 1000)} events/s`,
  );
}
