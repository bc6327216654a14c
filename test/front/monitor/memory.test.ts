// What a monitor holds in memory: bounded, whatever the context that is looked at, and whoever does not read what they asked for.
import fs from "node:fs";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openProject } from "../../../src/contexts/project.ts";
import type { Overview } from "../../../src/front/monitor/api.ts";
import { openStore } from "../../../src/ledger/open-store.ts";
import { scratch } from "../../turn.ts";
import { makeLongContext } from "./long-context.ts";
import { startMonitor } from "./running-monitor.ts";

const LONG = process.env.HOLDFAST_LONG === "1";

const residentMb = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;

const VIEWS = [
  "rows?count=300",
  "rows?from=-300",
  "rows?text=line",
  "timeline",
  "usage",
  "costs",
  "data",
  "checkpoints",
];

test.runIf(LONG)(
  "a context of 50,000 events, all its views, and ten readers that do not read",
  { timeout: 300_000 },
  async () => {
    const [cwd, state] = [scratch(onTestFinished), scratch(onTestFinished)];
    const store = await openStore(openProject({ cwd, state }).ledgers);
    onTestFinished(() => store.close());
    const context = await makeLongContext(store, { root: cwd, events: 50_000 });
    const monitor = await startMonitor({ cwd, state }, ["--state", state]);
    const { contexts } = await monitor.json<Overview>("/api/overview");
    const at = `/api/p/${contexts[0]!.project}/c/${context}`;
    await sleep(3_000);
    const before = residentMb(monitor.pid);
    for (let round = 0; round < 5; round++)
      for (const view of ["", ...VIEWS.map((one) => `/${one}`), `/event/${1_000 + round}`])
        await (await monitor.get(at + view)).arrayBuffer();
    const looked = residentMb(monitor.pid);
    const sleepers = Array.from({ length: 10 }, () => {
      const socket = net.connect(monitor.port, "127.0.0.1");
      socket.write(
        `GET ${at}/live?since=50000 HTTP/1.1\r\nhost: 127.0.0.1:${monitor.port}\r\nauthorization: Bearer ${monitor.token}\r\n\r\n`,
      );
      return socket.pause();
    });
    onTestFinished(() => {
      for (const one of sleepers) one.destroy();
    });
    await sleep(300);
    const data = { origin: "test", text: "字".repeat(110) };
    for (let i = 0; i < 1_000; i++) {
      const events = Array.from({ length: 50 }, () => ({ type: "note.added", actor: "lead", data }));
      await store.append([{ ledger: context, events }]);
      await sleep(1);
    }
    await sleep(1_000);
    const slept = residentMb(monitor.pid);
    const mb = (one: number) => `${one.toFixed(0)} MB`;
    console.log(
      `the monitor at its start ${mb(before)}; after every view of 50,000 events five times ${mb(looked)}; with 50,000 more and ten readers that sleep ${mb(slept)}`,
    );
    expect(looked).toBeLessThan(500);
    expect(slept - looked).toBeLessThan(150);
  },
);
