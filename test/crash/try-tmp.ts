import { runCell, runCells } from "./cell.ts";
import { countCalls, failAtCall } from "./strace.ts";
import { scenario } from "./scenarios.ts";
for (const s of ["write_file","bash"]) {
const c = await countCalls(scenario(s)); console.log(s, c);
const plans = Array.from({length: c.fsync}, (_, i) => i+1).flatMap((n)=>[false,true].map((l)=>({n,l})));
const t = await runCells(plans, ({n,l}) => runCell(scenario(s), [failAtCall("fsync", n, "EIO", l)], `${s} EIO fsync ${n}${l?"+":""}`));
console.log(JSON.stringify(t.faults)); for (const n of t.notes) console.log(n);
}
