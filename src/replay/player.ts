// One agent of a replay: the real loop, whose appends are held against the recording, and whose model and tools answer as recorded.
import { setImmediate as breathe } from "node:timers/promises";
import type { Codec } from "../ledger/events.ts";
import type { State } from "../ledger/fold.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { EventInput, Lease, StoredEvent } from "../ledger/store.ts";
import { type AgentHandle, createAgent } from "../loop/agent.ts";
import type { Merged } from "../loop/merge.ts";
import type { House } from "./house.ts";
import { ledgerOf } from "./ledger.ts";
import { answerTo, isInterrupt, nextOf } from "./outcomes.ts";
import { isFact, type Recording } from "./recording.ts";
import type { RequestParts } from "./request.ts";
import { createSeams, type Doing, type Played } from "./seams.ts";

/** What an agent wants to record, and waits to be held against what was. */
export interface Appending {
  events: EventInput[];
  /** Who was asked when it was said. */
  doing: Doing;
  answer(stored: StoredEvent[]): void;
}

/** What an agent needs of the replay it is in. */
export interface ReplayStage {
  readonly context: string;
  readonly recording: Recording;
  readonly codec: Codec;
  state(): State;
  at(): number;
  blob(hash: string): Promise<Uint8Array | undefined>;
}

/** Everything that an agent does in a replay is computing: more than this is no computing. */
const LATE_MS = 10_000;

type Activity = "appends" | "waits" | "stuck" | "ended";

export class Player implements Played {
  readonly says = new Map<string, Doing>();
  doing: Doing = { seam: "loop", mechanism: "loop" };
  readonly appends: Appending[] = [];
  /** Nothing more comes from it until its next turn: it is elsewhere than the recording. */
  isLost = false;
  /** How much it has said in this turn that was not recorded. */
  extras = 0;
  /** What its requests carried last, as recorded. */
  carried: RequestParts = { blocks: [], specs: [] };
  house: House | undefined;
  private running = false;
  private isStuck = false;
  private held = 0;
  private handle: AgentHandle | undefined;
  /** Of the process that is played: what an earlier one still says is not heard. */
  private life = 0;
  private readonly further_: (() => void)[] = [];
  private readonly waits: { condition: () => boolean; done: () => void }[] = [];
  private readonly watchers: (() => void)[] = [];

  readonly agent: string;
  private readonly stage: ReplayStage;

  constructor(agent: string, stage: ReplayStage) {
    this.agent = agent;
    this.stage = stage;
  }

  get recording(): Recording {
    return this.stage.recording;
  }
  at(): number {
    return this.stage.at();
  }
  heldSince(): number {
    return this.held;
  }
  parts(): RequestParts {
    return this.carried;
  }
  abort(): void {
    this.handle?.interrupt();
  }
  isRunning(): boolean {
    return this.running;
  }

  stuck<T>(): Promise<T> {
    this.isStuck = true;
    this.stir();
    return new Promise<T>(() => undefined);
  }

  further(): Promise<void> | undefined {
    const own = this.recording.next(this.agent, this.at());
    if (own === undefined || own <= this.at()) return undefined;
    return new Promise((resolve) => {
      this.further_.push(resolve);
      this.stir();
    });
  }

  /** More was folded: whoever waits for that looks again. */
  folded(): boolean {
    const waiting = this.further_.splice(0);
    for (const go of waiting) go();
    let woken = waiting.length > 0;
    for (const wait of [...this.waits]) {
      if (!wait.condition()) continue;
      this.waits.splice(this.waits.indexOf(wait), 1);
      wait.done();
      woken = true;
    }
    return woken;
  }

  /** Goes on once that is so. */
  when(condition: () => boolean, done: () => void): void {
    if (condition()) done();
    else this.waits.push({ condition, done });
  }

  private stir(): void {
    for (const go of this.watchers.splice(0)) go();
  }

  private activity(): Activity | undefined {
    if (this.appends.length > 0) return "appends";
    if (this.further_.length > 0) return "waits";
    if (this.isStuck) return "stuck";
    if (!this.running) return "ended";
    return this.waits.length > 0 ? "waits" : undefined;
  }

  /** Resolves when it has something to record, waits for something, or has come to an end. */
  async settled(): Promise<Activity> {
    for (;;) {
      const activity = this.activity();
      if (activity) return activity;
      if ((await this.stirred()) === "late") return "stuck";
    }
  }

  /** Whoever waits for what no recording has is not waited for. */
  private stirred(): Promise<"stirred" | "late"> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve("late"), LATE_MS);
      this.watchers.push(() => {
        clearTimeout(timer);
        resolve("stirred");
      });
    });
  }

  /** Several calls that run together are at different places: all of them have come as far as they can. */
  async quiet(): Promise<void> {
    for (let i = 0; i < 4; i++) await breathe();
  }

  /** A process takes the agent, by the house it has then. What an earlier one did there is over. */
  begin(house: House, heldSince: number): void {
    this.over();
    this.extras = 0;
    this.house = house;
    this.held = heldSince;
    const seams = createSeams(house, this);
    const lease = leaseOf(this.agent);
    this.handle = createAgent({
      ledger: this.ledger(this.life),
      lease,
      name: this.agent,
      seams,
      model: house.model,
      heldSince,
    });
    this.running = true;
    const life = this.life;
    this.turn(this.handle, seams).finally(() => {
      if (life !== this.life) return;
      this.running = false;
      this.stir();
    });
  }

  /** Loses its place until its next turn. */
  lose(): void {
    this.over();
    this.isLost = true;
  }

  /** Whatever still goes on is over, and nobody hears of it. */
  over(): void {
    this.life++;
    this.running = false;
    this.isStuck = false;
    this.doing = { seam: "loop", mechanism: "loop" };
    this.appends.length = 0;
    this.further_.length = 0;
    this.abort();
    this.waits.length = 0;
  }

  private async turn(handle: AgentHandle, seams: Merged): Promise<void> {
    const next = nextOf(this);
    if (isFact(next, "turn.started") && !handle.hasWork()) {
      const { cause } = next.data;
      const isWoken = cause === "wake" && (await seams.intake(handle.turn)).length > 0;
      if (cause !== "input" && !isWoken) await handle.reopen(cause);
    }
    await handle.oneTurn();
  }

  /** What the model says to a call: as recorded. */
  async reply(model: string, signal: AbortSignal) {
    const answer = answerTo(this, model);
    switch (answer.kind) {
      case "reply":
        return answer.reply;
      case "error":
        throw answer.error;
      case "aborted":
        this.abort();
        throw answer.error;
      case "none":
        signal.throwIfAborted();
        return this.stuck<never>();
    }
  }

  /** An open wait is ended by an interrupt, where that is what comes next. */
  interruptIfNext(): boolean {
    if (this.waits.length === 0 || !isInterrupt(nextOf(this))) return false;
    this.abort();
    return true;
  }

  private ledger(life: number): Ledger {
    const { stage } = this;
    const isOver = () => life !== this.life;
    return ledgerOf({
      name: stage.context,
      state: stage.state,
      blob: stage.blob,
      watchAll: (signal) => this.changes(signal),
      append: (events) => {
        if (isOver()) return new Promise(() => undefined);
        if (events.length === 0) return Promise.resolve([]);
        return new Promise((answer) => {
          this.appends.push({ events, answer, doing: this.doing });
          this.stir();
        });
      },
    });
  }

  private async *changes(signal: AbortSignal): AsyncGenerator<{ ledger: string; seq: number }> {
    while (!signal.aborted) {
      const before = this.at();
      await new Promise<void>((done) => {
        this.waits.push({ condition: () => signal.aborted || this.at() !== before, done });
        signal.addEventListener("abort", () => this.folded(), { once: true });
        this.stir();
      });
      if (!signal.aborted) yield { ledger: this.stage.context, seq: this.at() };
    }
  }
}

const leaseOf = (agent: string): Lease => ({
  ...{ name: `replay/${agent}`, term: 1, token: "replay" },
  holder: { machine: "", boot: "", pid: 0, startedAt: "", interactive: false },
  renew: async () => true,
  isOver: () => false,
  keep: () => () => undefined,
  release: async () => undefined,
});
