// What other rooms use of the replay.
export { type Difference, KINDS, type Kind } from "./compare.ts";
export { againstExpected, type Expected, expectedBeside, readExpected } from "./expected.ts";
export { fixtureText, redacted, replayFixture } from "./fixture.ts";
export { readRecording } from "./recording.ts";
export { houseOf, type Replayed, type ReplayOptions, replayEvents } from "./replay.ts";
export { differenceText } from "./report.ts";
