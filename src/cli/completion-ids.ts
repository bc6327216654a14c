// `holdfast completion contexts|ids`: what the scripts offer as ids. Makes nothing, says nothing else: it runs while somebody types.
import { join } from "node:path";
import { listContexts } from "../contexts/listing.ts";
import { listProjects } from "../contexts/project/links.ts";
import { oneLine } from "../front/presentation/printable.ts";
import { openStore } from "../ledger/open-store.ts";
import type { Store } from "../ledger/store.ts";
import type { CompletedId } from "./completion-entries.ts";
import type { PlaceFlags } from "./flags.ts";

/** So many are offered, the newest first. */
const MOST = 50;

interface Here {
  store: Store;
  root: string;
  stateDir: string;
  flags: PlaceFlags;
  /** Which context is meant, where one stands before. */
  context: string;
}

/** An id, and what it is. */
type Offered = [id: string, about: string];

const OFFERED: Record<CompletedId, (here: Here) => Promise<Offered[]>> = {
  context: async ({ store }) => (await listContexts(store)).map(({ id, title }) => [id, title]),
  async request({ store, root, stateDir }) {
    const { allListed } = await import("./commands/approve.ts");
    const all = await allListed({ store, root, jobsDir: join(stateDir, "jobs") });
    return all.map(({ request }) => [request.requestId, request.reason]);
  },
  async plan({ store, root, stateDir }) {
    const { waitingPlans } = await import("./commands/waiting-plans.ts");
    return (await waitingPlans({ store, root, jobsDir: join(stateDir, "jobs") })).map((id) => [id, "a plan"]);
  },
  async job({ stateDir }) {
    const { listJobs } = await import("../mechanisms/jobs/job-dir.ts");
    return (await listJobs(join(stateDir, "jobs"))).map(({ jobId, command }) => [jobId, command]);
  },
  async task({ store }) {
    const { openBoard } = await import("../mechanisms/tasks/index.ts");
    return (await (await openBoard(store)).list()).map(({ id, subject }) => [id, subject]);
  },
  async worktree({ root, stateDir }) {
    const { openWorktrees } = await import("../mechanisms/worktrees/index.ts");
    const trees = openWorktrees({ dir: join(stateDir, "worktrees"), root });
    return (await trees.list()).map(({ name }) => [name, "a worktree"]);
  },
  async checkpoint({ store, flags, context }) {
    const { findContext } = await import("./open.ts");
    const { openContexts } = await import("../contexts/open.ts");
    const found = await (await openContexts({ store })).get((await findContext(store, context, flags)).id);
    return (await found.checkpoints()).map(({ seq, name }): Offered => [String(seq), name]).reverse();
  },
  async agent({ root, stateDir, flags }) {
    const { createAgentCatalogue } = await import("../mechanisms/agents/catalogue.ts");
    const { agentPlaces } = await import("./agent-places.ts");
    const { trustNow } = await import("./settings.ts");
    const { trusted } = await trustNow(flags, { root, stateDir });
    const list = await createAgentCatalogue({ places: agentPlaces(root, { trusted }) }).list();
    return list.map(({ name, description }) => [name, description]);
  },
};

/** Contract: whatever is wrong, nothing is said and nothing is offered. */
export async function offerIds(kind: CompletedId, flags: PlaceFlags, context = ""): Promise<number> {
  const here = listProjects({ cwd: flags.cwd, ...(flags.state && { state: flags.state }) }).find((one) => one.here);
  if (!here?.ledgers) return 0;
  const store = await openStore(here.ledgers, { readOnly: true });
  try {
    const { stateDir } = here;
    const all = await OFFERED[kind]({ store, root: flags.cwd, stateDir, flags, context }).catch(() => []);
    for (const [id, about] of all.slice(0, MOST)) process.stdout.write(`${id}\t${oneLine(about, 60)}\n`);
    return 0;
  } finally {
    await store.close();
  }
}
