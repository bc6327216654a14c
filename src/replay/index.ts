// What other rooms use of the replay.
export { againstExpected, expectedBeside, readExpected } from "./expected.ts";
export { recordedFixture, replayFixture } from "./fixture.ts";
export { readRecording } from "./recording.ts";
export { houseOf, type Replayed, replayEvents } from "./replay.ts";
export { differenceText, goneText } from "./report.ts";
