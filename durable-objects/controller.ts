/**
 * A controller of one cluster, named `<cluster>/controllers/<name>`. A poke carries nothing and may be lost (DESIGN §7): it only asks
 * for a pass soon; cron pokes too. A pass that left work asks for the next one by the alarm, with backoff.
 */
import { DurableObject } from "cloudflare:workers";
import type { Recorder } from "../src/core/base/ports";
import type { Settings } from "../src/core/config/settings";
import { SWEEP_MARK } from "../src/addresses/repair/repair-ports";
import { repairCounts } from "../src/addresses/repair/repairer";
import { differingSettings, noteSettings } from "../src/addresses/repair/settings-watch";
import type { Wipeable } from "../src/tenancy/rpc";
import type { RepairControllerRpc, RepairCounts } from "../src/addresses/rpc/repair";
import type { ControllerRpc } from "../src/api/rpc/store";
import type { Env } from "./env";
import { garbageCollectionPass } from "./garbage-collection-pass";
import { namespaceDeletionPass } from "./namespace-deletion-pass";
import type { ControllerName } from "./peers";
import { systemClock, systemRecorder } from "./ports";
import { ownSettings, repairPass } from "./repair-pass";
import { GARBAGE_COLLECTION_SCHEMA } from "./sql/garbage-collection-sql";
import { IDENTITY_SCHEMA, objectName } from "./sql/identity-sql";
import { migrate, type Migration } from "./sql/migrate";
import { REPAIR_SCHEMA, REPAIR_SETTINGS_SCHEMA, REPAIR_TRIES_SCHEMA, sqlRepairStorage, sqlSettingsStorage } from "./sql/repair-sql";
import { wipe } from "./wipe";

const RETRY_BASE_MS = 500;
const RETRY_MAX_MS = 30_000;

export const CONTROLLER_MIGRATIONS: readonly Migration[] = [
  { id: 1, sql: IDENTITY_SCHEMA },
  { id: 2, sql: GARBAGE_COLLECTION_SCHEMA },
  { id: 3, sql: REPAIR_SCHEMA },
  { id: 4, sql: REPAIR_SETTINGS_SCHEMA },
  { id: 5, sql: REPAIR_TRIES_SCHEMA },
];

/** What a controller's work has of its object. */
export interface ControllerSetting {
  env: Env;
  cluster: string;
  storage: DurableObjectStorage;
  recorder: Recorder;
}

/**
 * One pass over everything there is to do; `left` = another one is needed although nothing may change. `againAt`: so is one at that time
 * (milliseconds since the epoch). `isPoked`: only other objects have asked for it, which tell of changes and of having started.
 */
export type ControllerPass = (isPoked: boolean) => Promise<{ left: boolean; againAt?: number | undefined }>;

type MakePass = (setting: ControllerSetting) => ControllerPass;

/** The controllers, by the last part of their object's name. */
const PASSES: Readonly<Record<ControllerName, MakePass>> = {
  namespaces: namespaceDeletionPass,
  "garbage-collection": garbageCollectionPass,
  repair: repairPass,
};

export class Controller extends DurableObject<Env> implements ControllerRpc, RepairControllerRpc, Wipeable {
  readonly #recorder: Recorder;
  readonly #onePass: ControllerPass;
  #attempt = 0;
  #running: Promise<void> | undefined;
  #pokedMeanwhile = false;
  /** something else than a poke has asked for the next pass */
  #isDue = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    migrate(ctx.storage, CONTROLLER_MIGRATIONS, systemClock.now());
    const name = objectName(ctx);
    const passes: Readonly<Record<string, MakePass | undefined>> = PASSES;
    const makePass = passes[name.slice(name.lastIndexOf("/") + 1)];
    if (!makePass) throw new Error(`no controller ${name}`);
    this.#recorder = systemRecorder({ object: name });
    const cluster = name.slice(0, name.indexOf("/"));
    this.#onePass = makePass({ env, cluster, storage: ctx.storage, recorder: this.#recorder });
  }

  /** Answers at once; the pass goes on behind it. */
  poke(): Promise<void> {
    this.#attempt = 0;
    this.ctx.waitUntil(this.#pass());
    return Promise.resolve();
  }

  pokeFrom(settings: Settings): Promise<void> {
    noteSettings(sqlSettingsStorage(this.ctx.storage), ownSettings(this.env), settings, systemClock.now());
    this.#isDue = true;
    return this.poke();
  }

  sweep(): Promise<void> {
    sqlRepairStorage(this.ctx.storage).markSet(SWEEP_MARK, 1);
    return this.poke();
  }

  repairCounts(): Promise<RepairCounts> {
    const { storage } = this.ctx;
    const settings = differingSettings(sqlSettingsStorage(storage), systemClock.now());
    return Promise.resolve({ ...repairCounts(sqlRepairStorage(storage)), differingSettings: settings });
  }

  wipe(): Promise<string[]> {
    return wipe(this.ctx);
  }

  override async alarm(): Promise<void> {
    this.#isDue = true;
    await this.#pass();
  }

  /** One pass at a time; a poke during a pass asks for another one. Never rejects. */
  #pass(): Promise<void> {
    if (this.#running) {
      this.#pokedMeanwhile = true;
      return this.#running;
    }
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #run(): Promise<void> {
    do {
      this.#pokedMeanwhile = false;
      const isPoked = !this.#isDue;
      this.#isDue = false;
      let left = true;
      let againAt: number | undefined;
      try {
        ({ left, againAt } = await this.#onePass(isPoked));
      } catch (error) {
        this.#recorder.log("warn", "controller pass failed", { error: String(error) });
      }
      const retryAt = systemClock.now() + Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** this.#attempt);
      this.#attempt = left ? this.#attempt + 1 : 0;
      if (left) await this.#wakeAt(retryAt);
      else if (againAt !== undefined) await this.#wakeAt(Math.max(againAt, systemClock.now() + RETRY_BASE_MS));
    } while (this.#pokedMeanwhile);
  }

  /** Without an alarm the next pass is cron's. */
  async #wakeAt(time: number): Promise<void> {
    try {
      await this.ctx.storage.setAlarm(time);
    } catch (error) {
      this.#recorder.log("warn", "the alarm of a controller could not be set", { error: String(error) });
    }
  }
}
