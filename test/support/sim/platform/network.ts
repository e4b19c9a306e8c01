/** Objects that call each other over a network that loses, repeats, delays and reorders, and that die at their commits. */
import type { Clock } from "../../../../src/core/base/ports";
import type { WordRandom } from "../../../../src/core/base/word-random";
import { isMethodMissing } from "../../../../src/api/rpc/older-release";
import { plainCopy } from "./plain-copy";
import { type EarlierRelease, lacking } from "./earlier-release";
import { type FaultKind, isRareStep, type Occurrence, type ProtocolStep } from "../protocol-steps";
import { type CommitGate, type CommitSteps, SimulatedCrash } from "./journal";
import type { SimScheduler, Timers } from "./scheduler";

/** Probabilities, each of one call or one commit. */
export interface FaultRates {
  /** a call never arrives */
  lost: number;
  /** a call has its effect, and its caller never learns */
  replyLost: number;
  /** a call is carried out once more, later */
  repeated: number;
  /** a call arrives up to `slowMaxMs` late: beyond timeouts and deadlines */
  slow: number;
  slowMaxMs: number;
  /** an object dies at a commit, half of the time before and half of the time after it */
  crash: number;
  /** a commit fails and the object lives on */
  lostTransaction: number;
  /** the clock of the called object jumps, by up to CLOCK_OFF_MS_MAX from the right time */
  clockJump: number;
  /** a controller's alarm cannot be set */
  alarmFails: number;
  /** who is called dies before or after the call has had its effect, or who calls when it has left, if that can die: each equally often */
  messageCrash: number;
  /** of a read of KV: it is wrong in a way of FaultyKv, or fails */
  kv: number;
}

export const NO_FAULTS: FaultRates = {
  lost: 0,
  replyLost: 0,
  repeated: 0,
  slow: 0,
  slowMaxMs: 0,
  crash: 0,
  lostTransaction: 0,
  clockJump: 0,
  alarmFails: 0,
  messageCrash: 0,
  kv: 0,
};

/** Whoever makes calls: an object in one of its lives, or a client. */
export interface Caller {
  isAlive(): boolean;
  /** an API client, whose writes nobody repeats unasked */
  isClient?: true;
  /** it runs the release before */
  isEarlier?: boolean;
  /** ends this life */
  die?(): void;
}

/** A client of the API. */
export const CLIENT: Caller = { isAlive: () => true, isClient: true };
/** Whoever never dies, and whose calls may come twice. */
export const ALWAYS: Caller = { isAlive: () => true };

/** What one life of an object gets: when the object dies, clock and peers fall silent. */
export interface Life extends Caller {
  clock: Clock;
}

/** How much more often something befalls RARE_STEPS, up to every second time. */
const RARE_FACTOR = 20;
const RARE_RATE_MAX = 0.5;
const FAST_MS = 4;
/** The platform's first wait. */
const ALARM_AGAIN_MS = 2_000;
/** Beyond the deadlines of operations and hand-offs. */
const CLOCK_OFF_MS_MAX = 300_000;

/**
 * What a scenario decides for one message instead of chance. `held` messages wait until they are delivered; of a `late` one the caller learns
 * that the connection was lost, and it waits all the same. `answerHeld`: the call has its effect, and its answer waits.
 */
export type Fate = "lost" | "replyLost" | "held" | "late" | "answerHeld";

/** A message on its way. */
interface Held {
  step: ProtocolStep | undefined;
  deliver(): void;
}

type MessageCrash = Extract<FaultKind, "callerDies" | "calledDiesBefore" | "calledDiesAfter">;

export class SimNetwork {
  faults: FaultRates = NO_FAULTS;
  /** crashes so far */
  crashes = 0;
  /** faults of any kind so far */
  faulted = 0;
  /** asked for every message: its step and the name of who is called */
  fate: (step: ProtocolStep | undefined, target: string) => Fate | undefined = () => undefined;
  readonly held: Held[] = [];
  /** which faults met which steps, as `fault step` */
  readonly marks = new Set<string>();
  /** the step of the protocol that the call on the stack carries out */
  step: ProtocolStep | undefined;
  calls = 0;
  #travelling = 0;

  constructor(
    readonly scheduler: SimScheduler,
    readonly random: WordRandom,
  ) {}

  /** Whether a message or an answer is on its way; what a scenario holds is not. */
  get isBusy(): boolean {
    return this.#travelling > 0;
  }

  chance(probability: number): boolean {
    return probability > 0 && this.random.next() < probability;
  }

  /** Something happened that a history should come to (protocol-steps.ts). */
  occurred(what: Occurrence): void {
    this.marks.add(what);
  }

  /** Whether a fault of this rate happens now. */
  befalls(rate: number, isRare: boolean): boolean {
    return this.chance(isRare ? Math.min(RARE_FACTOR * rate, RARE_RATE_MAX) : rate);
  }

  /**
   * One call of `effect` at the object. Rejects when the call or its answer is lost, half of the time; else it never settles then. `step` tells
   * when the call is made, and at its arrival, which step of the protocol it is.
   */
  call<Brain, T>(
    caller: Caller,
    target: SimNode<Brain>,
    work: (brain: Brain) => Promise<T>,
    step?: () => ProtocolStep | undefined,
  ): Promise<T> {
    this.calls++;
    const { faults } = this;
    const sent = step?.();
    const isRare = isRareStep(sent);
    const effect = (brain: Brain): Promise<T> => {
      this.step = step?.();
      if (caller.isEarlier) target.calledByEarlier();
      try {
        return work(brain);
      } finally {
        this.step = undefined;
      }
    };
    const fate = this.fate(sent, target.name);
    const lost = fate === "lost" || this.befalls(faults.lost, isRare);
    const replyLost = fate === "replyLost" || fate === "late" || (!lost && this.befalls(faults.replyLost, isRare));
    if (lost) this.mark("lost", sent);
    if (replyLost) this.mark("replyLost", sent);
    if (!lost && !caller.isClient && this.befalls(faults.repeated, isRare)) {
      this.mark("repeated", sent);
      this.#travel(this.#delay() + this.random.below(1 + faults.slowMaxMs), () => {
        target.serve(
          effect,
          () => undefined,
          () => undefined,
          caller,
        );
      });
    }
    if (!lost && !target.hasRightTime && this.befalls(faults.clockJump, isRare)) {
      this.mark("clockJump", sent);
      target.clockOffMs = this.random.below(2 * CLOCK_OFF_MS_MAX) - CLOCK_OFF_MS_MAX;
    }
    const crash = lost ? undefined : this.#drawCrash(caller, sent);
    if (crash) this.mark(crash, sent);
    const result = new Promise<T>((resolve, reject) => {
      const answer = (settle: () => void): void => {
        if (replyLost) return;
        const deliver = (): void => void (caller.isAlive() && settle());
        if (fate === "answerHeld") this.held.push({ step: sent, deliver });
        else this.#travel(this.#delay(), deliver);
      };
      const fail = (error: Error): void => answer(() => reject(error));
      const arrive = (): void => {
        const succeed = (value: T): void => {
          // What it wrote is kept, and the answer is still in it.
          if (crash === "calledDiesAfter") target.crash();
          else answer(() => resolve(plainCopy(value)));
        };
        if (crash !== "calledDiesBefore") return target.serve(effect, succeed, fail, caller);
        target.crash();
        fail(new Error("the object was reset"));
      };
      if (fate === "held" || fate === "late") this.held.push({ step: sent, deliver: arrive });
      else if (!lost) this.#travel(this.#delay(sent), arrive);
      if ((lost || replyLost) && (fate !== undefined || this.chance(0.5))) {
        this.scheduler.after(this.random.below(2_000), () => void (caller.isAlive() && reject(new Error("connection lost"))));
      }
    });
    // In a turn of its own: nobody dies in the middle of the code that makes the call.
    if (crash === "callerDies") this.scheduler.after(0, () => void (caller.isAlive() && caller.die?.()));
    return result;
  }

  #travel(delayMs: number, arrive: () => void): void {
    this.#travelling++;
    this.scheduler.after(delayMs, () => {
      this.#travelling--;
      arrive();
    });
  }

  #drawCrash(caller: Caller, step: ProtocolStep | undefined): MessageCrash | undefined {
    if (!this.befalls(this.faults.messageCrash, isRareStep(step))) return undefined;
    const kinds: MessageCrash[] = caller.die
      ? ["calledDiesBefore", "calledDiesAfter", "callerDies"]
      : ["calledDiesBefore", "calledDiesAfter"];
    return kinds[this.random.below(kinds.length)];
  }

  mark(fault: FaultKind, step: ProtocolStep | undefined): void {
    this.faulted++;
    if (step) this.marks.add(`${fault} ${step}`);
  }

  #delay(step?: ProtocolStep): number {
    if (!this.befalls(this.faults.slow, isRareStep(step))) return this.random.below(FAST_MS);
    this.mark("slow", step);
    return this.random.below(this.faults.slowMaxMs);
  }
}

/** One Durable Object: its tables are kept by `make`'s caller, its memory is the brain of the current life. */
export class SimNode<Brain> {
  /** transactions of its tables ask this */
  readonly gate: CommitGate;
  /** the object's clock does not jump */
  hasRightTime = false;
  /** how often the object died */
  deaths = 0;
  /** called with each crash */
  onCrash: () => void = () => undefined;
  /** how far the object's clock is from the right time */
  clockOffMs = 0;
  /** called when the object leaves memory, and its sockets stay */
  onSleep: () => void = () => undefined;
  /** what a call by the release before does to an object of this one */
  onEarlierCaller: () => void = () => undefined;
  #earlier: EarlierRelease<Brain> | undefined;
  #life = 0;
  #brain: Brain | undefined;
  /** as callers of this release meet the brain of the release before */
  #lacking: Brain | undefined;
  /** of the current life */
  #timers: Timers = { set: 0 };
  #cancelAlarm: () => void = () => undefined;
  /** when the alarm rings, by the clock that the object had when it set it; undefined = it is not set */
  alarmAt: number | undefined;
  readonly #callers = new Set<(error: Error) => void>();

  constructor(
    readonly name: string,
    private readonly network: SimNetwork,
    private readonly make: (life: Life) => Brain,
    private readonly onAlarm: (brain: Brain) => Promise<void>,
  ) {
    const met = (fault: FaultKind, steps: CommitSteps): void => {
      this.network.mark(fault, undefined);
      for (const step of steps.all()) this.network.marks.add(`${fault} ${step}`);
    };
    const die = (fault: FaultKind, steps: CommitSteps): void => {
      if (!this.network.befalls(this.network.faults.crash / 2, steps.isRare)) return;
      met(fault, steps);
      this.crash();
      throw new SimulatedCrash(name);
    };
    const fail = (steps: CommitSteps): void => {
      if (!this.network.befalls(this.network.faults.lostTransaction, steps.isRare)) return;
      met("lostTransaction", steps);
      throw new SimulatedCrash("the disk is full");
    };
    this.gate = {
      beforeCommit: (steps) => {
        die("crashBefore", steps);
        fail(steps);
      },
      afterCommit: (steps) => die("crashAfter", steps),
    };
  }

  /** The running object; starts it if it is not running. Throws when it dies at its start. */
  get brain(): Brain {
    if (this.#brain === undefined) {
      const life = this.#life;
      const made = this.make(this.#lifeOf(life));
      if (life !== this.#life) throw new SimulatedCrash(this.name);
      this.#brain = made;
    }
    return this.#brain;
  }

  get isRunning(): boolean {
    return this.#brain !== undefined;
  }

  get isEarlier(): boolean {
    return this.#earlier !== undefined;
  }

  /** A deployment: the object dies, and starts under this release, or with `earlier` under the one before. */
  deploy(earlier: EarlierRelease<Brain> | undefined): void {
    this.#earlier = earlier;
    this.crash();
  }

  /** Somebody of the release before has called. */
  calledByEarlier(): void {
    if (!this.#earlier) this.onEarlierCaller();
  }

  /**
   * Memory is gone; tables, the alarm and sockets stay, as the platform does it to an object with no request and no timer. False: it has one. Each call that
   * the object makes has a timer (rule 18).
   */
  sleep(): boolean {
    if (this.#brain === undefined || this.#callers.size > 0 || this.#timers.set > 0) return false;
    this.#life++;
    this.#brain = this.#lacking = undefined;
    this.onSleep();
    return true;
  }

  /** Memory is gone, tables stay. Whoever waits for an answer gets an error; the next call or alarm starts the object again. */
  crash(): void {
    this.#life++;
    this.#brain = this.#lacking = undefined;
    this.network.crashes++;
    this.deaths++;
    this.onCrash();
    for (const fail of [...this.#callers]) fail(new Error("the object was reset"));
    this.#callers.clear();
  }

  /** `caller`: undefined = the platform */
  serve<T>(effect: (brain: Brain) => Promise<T>, succeed: (value: T) => void, fail: (error: Error) => void, caller?: Caller): void {
    let brain: Brain;
    try {
      brain = this.#seenBy(caller);
    } catch (error) {
      fail(error as Error);
      return;
    }
    const life = this.#life;
    this.#callers.add(fail);
    const end = (settle: () => void): void => {
      if (life !== this.#life) return;
      this.#callers.delete(fail);
      settle();
    };
    Promise.resolve()
      .then(() => effect(brain))
      .then(
        (value) => end(() => succeed(value)),
        (error: unknown) => end(() => fail(error instanceof Error ? error : new Error(String(error)))),
      );
  }

  /** The alarm, whenever it stood before. The platform repeats one in which the object dies. */
  setAlarm(time: number): void {
    this.#cancelAlarm();
    this.alarmAt = time;
    const { scheduler } = this.network;
    this.#cancelAlarm = scheduler.after(time - scheduler.now - this.clockOffMs, () => {
      const rung = this.#cancelAlarm;
      this.alarmAt = undefined;
      this.serve(
        (brain) => this.onAlarm(brain),
        () => undefined,
        (error) => {
          // The platform drops the alarm of a class that has no handler.
          if (this.#cancelAlarm === rung && !isMethodMissing(error, "alarm"))
            this.setAlarm(scheduler.now + this.clockOffMs + ALARM_AGAIN_MS);
        },
      );
    });
  }

  /** As when the platform has lost it. */
  loseAlarm(): void {
    this.#cancelAlarm();
    this.alarmAt = undefined;
  }

  /** The release before calls nothing that it lacks: what its objects call here in the way of this release stands for what they called. */
  #seenBy(caller: Caller | undefined): Brain {
    const { brain } = this;
    if (!this.#earlier || caller?.isEarlier) return brain;
    const { network } = this;
    return (this.#lacking ??= lacking(brain, this.#earlier, (what) => network.occurred(what)));
  }

  #lifeOf(life: number): Life {
    const isAlive = (): boolean => life === this.#life;
    const timers = (this.#timers = { set: 0 });
    return {
      isAlive,
      isEarlier: this.isEarlier,
      die: () => void (isAlive() && this.crash()),
      clock: { ...this.network.scheduler.clock(isAlive, timers), now: () => this.network.scheduler.now + this.clockOffMs },
    };
  }
}

/** Tables as one life sees them: code that still runs after the object died reads and writes nothing. */
export function whileAlive<T extends object>(tables: T, { isAlive }: Caller): T {
  const methods = new Map<string | symbol, unknown>();
  return new Proxy(tables, {
    get(target, property) {
      if (!isAlive()) throw new SimulatedCrash("the object is dead");
      const known = methods.get(property);
      if (known !== undefined) return known;
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== "function") return value;
      const method = (value as (...args: unknown[]) => unknown).bind(target);
      methods.set(property, method);
      return method;
    },
  });
}
