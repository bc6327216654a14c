// The second thread that reads files in bulk: it answers each job with its chunks, in order. reading.ts starts it.
import { parentPort } from "node:worker_threads";
import { type ReadJob, thisReader } from "./reader.ts";

parentPort?.on("message", (job: ReadJob) => {
  for (let from = 0; from < job.names.length; ) {
    const chunk = thisReader().read(job, from);
    job.room = undefined;
    from += chunk.count;
    parentPort?.postMessage(chunk, [chunk.numbers.buffer, ...(chunk.entries ? [chunk.entries.buffer] : [])]);
  }
});
