// Loaded before everything else of the library: on an old Node that would end in a missing builtin module, with no word on why.
const problem = require("./node-version.js").tooOld();
if (problem) {
  const error = new Error(problem);
  error.code = "ERR_HOLDFAST_NODE";
  error.stack = `Error: ${problem}`;
  throw error;
}
