// The replay: the events of a recording in their order. What was decided is computed anew and compared; all else is taken as it was.
import { HoldfastError } from "../ledger/error.ts";
import { isRecord } from "../ledger/guards.ts";
import type { EventInput, StoredEvent } from "../ledger/store.ts";
import { readers } from "../loop/host.ts";
import type { Mechanism } from "../loop/seams.ts";
import { type Difference, unlike } from "./compare.ts";
import { createHouse, type House, type OwnParts } from "./house.ts";
import { lookedOf } from "./outcomes.ts";
import { type Appending, Player, type ReplayStage } from "./player.ts";
import {
  brief,
  corresponds,
  hasInputs,
  heldSince,
  isAside,
  isBeside,
  kindIn,
  kindOfTwo,
  settingsIn,
  whoSaid,
  wiresIn,
} from "./reading.ts";
import { createRecording, isFact, type Recording } from "./recording.ts";
import { withChange } from "./request.ts";
import type { Doing } from "./seams.ts";
import { parseSettings, type RecordedSettings } from "./settings.ts";

export interface ReplayOptions extends OwnParts {
  blob?: ReplayStage["blob"];
  /** Told the fingerprint of what each request shows, by the seq of its reply. */
  onShown?: (seq: number, hash: string) => void;
  /** After so many differences it is over; default: 20. */
  most?: number;
  /** Changes the house, as another build would: for tests of the replay itself. */
  change?: (mechanisms: Mechanism[]) => Mechanism[];
}

export interface Replayed {
  context: string;
  events: number;
  /** Of these, how many were computed anew and compared. */
  compared: number;
  differences: Difference[];
  /** Agents that nothing could be computed of: what their decisions rested on was not recorded. */
  unknown: string[];
}

/** The mechanisms whose events every context may have. */
export const houseOf = (
  own: OwnParts = {},
): { codec: ReturnType<typeof readers>["codec"]; mechanisms: readonly Mechanism[] } => {
  const { mechanisms } = createHouse(ANY, {
    ...own,
    reply: () => Promise.reject(new HoldfastError("invalid", "no model here")),
    wire: undefined,
    looked: () => undefined,
    fallbacks: [],
  });
  return { codec: readers(mechanisms, own.mechanisms).codec, mechanisms };
};

/** For reading alone. */
const ANY: RecordedSettings = {
  model: { id: "replay/none", limits: { contextTokens: 1, outputTokens: 1, images: false, documents: false } },
  by: {
    identity: { platform: "" },
    limits: {},
    recovery: { fallbacks: 0 },
    budget: {},
    checkpoints: { keepsFiles: false },
    permissions: { policy: { mode: "default", allow: [], ask: [], deny: [] }, home: "/" },
    tasks: { hasBoard: false },
    worktrees: { hasPlace: false },
    team: {},
    memory: { remembers: false },
  },
};

const MOST = 20;
/** Notes of one turn that were not recorded: with more it is another conversation. */
const MOST_EXTRAS = 20;

export async function replayEvents(
  context: string,
  events: readonly StoredEvent[],
  opts: ReplayOptions = {},
): Promise<Replayed> {
  const replay = new Replay(context, events, opts);
  await replay.run();
  return replay.result();
}

class Replay implements ReplayStage {
  readonly recording: Recording;
  readonly codec;
  private readonly fold;
  private readonly folded;
  private position = 0;
  private compared = 0;
  private readonly players = new Map<string, Player>();
  private readonly houses = new Map<string, House>();
  private readonly differences: Difference[] = [];
  private readonly unknown = new Set<string>();
  private readonly fallbacks: string[] = [];
  private readonly settings: Map<string, { at: number; json: string }[]>;

  readonly context: string;
  private readonly events: readonly StoredEvent[];
  private readonly opts: ReplayOptions;

  constructor(context: string, events: readonly StoredEvent[], opts: ReplayOptions) {
    this.context = context;
    this.events = events;
    this.opts = opts;
    const { mechanisms } = houseOf(opts);
    const { codec, fold } = readers(mechanisms, opts.mechanisms);
    this.codec = codec;
    this.fold = fold;
    this.folded = fold.initial();
    this.recording = createRecording(events, new Set(mechanisms.flatMap(({ decides }) => decides ?? [])));
    this.settings = settingsIn(events);
    for (const { type, data } of events)
      if (type === "model.switched" && isRecord(data) && typeof data.fallback === "number")
        this.fallbacks[data.fallback - 1] = String(data.to);
  }

  at = (): number => this.position;
  state = () => this.folded;
  blob = async (hash: string): Promise<Uint8Array | undefined> => this.opts.blob?.(hash);

  result(): Replayed {
    const { context, compared, differences } = this;
    return { context, events: this.events.length, compared, differences, unknown: [...this.unknown] };
  }

  async run(): Promise<void> {
    const most = this.opts.most ?? MOST;
    while (this.position < this.events.length && this.differences.length < most) {
      const event = this.events[this.position];
      if (!event) break;
      if (this.recording.isDecided(this.position)) await this.decided(event);
      else await this.take(event);
    }
    for (const player of this.players.values()) player.over();
  }

  private player(agent: string): Player {
    const player = this.players.get(agent) ?? new Player(agent, this);
    this.players.set(agent, player);
    return player;
  }

  /** It is true from here on; whoever waited for it goes on as far as it gets. */
  private async take(event: StoredEvent): Promise<void> {
    this.foldIn(event);
    for (const player of this.players.values()) if (player.folded()) await player.settled();
  }

  private foldIn(event: StoredEvent): void {
    this.fold.apply(this.folded, event);
    this.position++;
    if (!isFact(event, "request.changed")) return;
    const player = this.player(event.actor);
    player.carried = withChange(player.carried, event);
  }

  /** An event that its agent decided: it must come from there again. */
  private async decided(event: StoredEvent): Promise<void> {
    const player = this.player(event.actor);
    if (event.type === "turn.started") player.isLost = false;
    if (player.isLost) return this.take(event);
    let lives = 0;
    for (const at = this.position; this.position === at; ) {
      if (!player.isRunning() && player.appends.length === 0) {
        if (lives++ > 1) return this.notReached(player, event);
        const house = this.houseFor(player);
        if (!house) return this.take(event);
        player.begin(house, heldSince(this.recording, event));
      }
      const activity = await player.settled();
      if (activity === "appends") await this.hold(player, event);
      else if (activity === "waits" && (player.folded() || player.interruptIfNext())) continue;
      else if (activity !== "ended") player.over(); // the process may have died here: another one goes on from what is folded
    }
  }

  private async notReached(player: Player, event: StoredEvent): Promise<void> {
    const kind = isAside(event) ? "prompt bytes" : "order";
    const by = { doing: { seam: "loop", mechanism: "loop" }, encoded: event };
    this.differ(player, event, { kind, recorded: brief(event), computed: undefined }, by);
    if (isAside(event)) player.over();
    else player.lose();
    return this.take(event);
  }

  /** What the agent wants to record against what was recorded. */
  private async hold(player: Player, event: StoredEvent): Promise<void> {
    const found = () => player.appends.findIndex(({ events }) => corresponds(events[0], event));
    if (found() < 0) await player.quiet();
    const [appending] = player.appends.splice(Math.max(0, found()), 1);
    if (!appending) return;
    const stored = await this.match(player, appending);
    if (!stored) return;
    player.when(
      () => hasInputs(player, this.folded),
      () => appending.answer(stored),
    );
    await player.settled();
    for (const other of this.players.values()) if (other !== player && other.folded()) await other.settled();
  }

  /** Contract: undefined where the agent is elsewhere than the recording. */
  private async match(player: Player, appending: Appending): Promise<StoredEvent[] | undefined> {
    const stored: StoredEvent[] = [];
    let isNote = false;
    for (const computed of appending.events) {
      const encoded = this.codec.encode(computed);
      this.skip(player, appending, { encoded, isNote });
      const recorded = this.events[this.position];
      isNote = encoded.type === "note.added";
      if (recorded?.actor === player.agent && corresponds(encoded, recorded)) {
        this.compare(player, appending, { recorded, encoded });
        this.foldIn(recorded);
        stored.push(recorded);
        continue;
      }
      const event = recorded ?? this.events.at(-1);
      if (!event) return undefined;
      const kind = kindOfTwo(event, encoded);
      this.differ(player, event, { kind, recorded: brief(event), computed: brief(encoded) }, { ...appending, encoded });
      // What is said and was not recorded is not folded: where the recording ends its turn, it would be said for ever.
      if (!isAside(encoded) || event.type === "turn.ended" || ++player.extras > MOST_EXTRAS) {
        player.lose();
        return undefined;
      }
      stored.push({ ...encoded, id: "", v: 1, touches: [], at: event.at, seq: this.folded.seq });
    }
    this.skip(player, appending, { encoded: undefined, isNote });
    return stored;
  }

  /** What was recorded here and is not computed: told of, and taken as it was. */
  private skip(
    player: Player,
    appending: Appending,
    { encoded, isNote }: { encoded: EventInput | undefined; isNote: boolean },
  ): void {
    for (;;) {
      const recorded = this.events[this.position];
      if (recorded?.actor !== player.agent || (encoded && corresponds(encoded, recorded))) return;
      const isTaken = !this.recording.isDecided(this.position) && recorded.type !== "input.received";
      if (isTaken && encoded?.type === "input.taken") {
        this.foldIn(recorded); // what came with the input from outside
        continue;
      }
      const isBorn = isNote && isTaken;
      const isMissing = encoded !== undefined && isAside(recorded) && this.recording.isDecided(this.position);
      if (!isBorn && !isMissing) return;
      if (isMissing && encoded && isAside(encoded) && encoded.type !== recorded.type) return;
      const computed = encoded && brief(encoded);
      const kind = isBorn ? "decision" : "prompt bytes";
      this.differ(player, recorded, { kind, recorded: brief(recorded), computed }, { ...appending, encoded: recorded });
      this.foldIn(recorded);
    }
  }

  private compare(
    player: Player,
    appending: Appending,
    { recorded, encoded }: { recorded: StoredEvent; encoded: EventInput },
  ): void {
    this.compared++;
    if (isRecord(encoded.data) && typeof encoded.data.shown === "string")
      this.opts.onShown?.(recorded.seq, encoded.data.shown);
    const found = unlike(recorded.type, recorded.data, encoded.data);
    if (!found || isBeside(recorded, found)) return;
    const kind = kindIn(recorded, encoded, found, this.recording.following(player.agent, this.position + 1));
    this.differ(player, recorded, { kind, ...found }, { ...appending, encoded });
  }

  private differ(
    player: Player,
    event: StoredEvent,
    found: Pick<Difference, "kind" | "recorded" | "computed"> & { field?: string },
    by?: { doing: Doing; encoded: EventInput },
  ): void {
    if (this.differences.at(-1)?.seq === event.seq) return; // one cause shows in several ways
    const { seam, mechanism } = whoSaid(player, by ?? { doing: player.doing, encoded: event }, found.field);
    const { seq, type } = event;
    this.differences.push({ seq, event: type, agent: player.agent, seam, mechanism, ...found });
  }

  /** The house that this agent's process has from here on. */
  private houseFor(player: Player): House | undefined {
    const own = this.settings.get(player.agent) ?? [];
    const reply = this.nextReply(player);
    const json = (own.findLast(({ at }) => at <= reply) ?? own[0] ?? [...this.settings.values()][0]?.[0])?.json;
    const settings = json === undefined ? undefined : parseSettings(json);
    if (json === undefined || !settings) {
      this.unknown.add(player.agent);
      return undefined;
    }
    const known = this.houses.get(`${player.agent} ${json}`);
    if (known) return known;
    const { mechanisms, tools, change } = this.opts;
    const house = createHouse(settings, {
      ...(mechanisms && { mechanisms }),
      ...(tools && { tools }),
      ...(change && { change }),
      reply: (_request, { signal }) => player.reply(settings.model.id, signal),
      wire: wiresIn(player),
      looked: ({ call }) => lookedOf(player, call.id),
      fallbacks: this.fallbacks,
    });
    this.houses.set(`${player.agent} ${json}`, house);
    return house;
  }

  /** What a process works by is recorded with its first request: before the first reply that it gets. */
  private nextReply(player: Player): number {
    for (const event of this.recording.following(player.agent, this.position))
      if (event.type === "reply.received") return this.recording.placeOf(event.seq);
    return this.events.length;
  }
}
