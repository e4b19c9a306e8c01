/** A simulated cluster in which a test decides what becomes of single messages: an interleaving, step by step. */
import type { HeldAddress } from "../../../src/addresses/rpc/repair";
import type { OwnerConfig } from "../../../src/addresses/rpc/service-cidr";
import type { WriteResult } from "../../../src/api/rpc/store";
import type { ProtocolStep } from "./protocol-steps";
import { createRange, deleteRange, patchRange } from "../objects/range-requests";
import { RepairWorld } from "../worlds/repair-world";
import { objectOf, SimApi } from "./api";
import { checkQuiet, ipAddressesOf } from "./watches/checks";
import type { SimOptions } from "./platform/platform";
import type { Fate } from "./platform/network";

interface Plan {
  step: ProtocolStep;
  fate: Fate;
  /** messages of this step that are let through before */
  skip: number;
  /** how many are met; Infinity = all from now on */
  times: number;
}

export class Scenario {
  readonly api: SimApi;
  readonly world: RepairWorld;
  #plans: Plan[] = [];

  private constructor(options: Partial<SimOptions>, isDual: boolean) {
    this.api = isDual ? SimApi.dualStack(options) : new SimApi(options);
    this.world = new RepairWorld(this.api.cluster);
    this.api.cluster.network.fate = (step) => this.#fateOf(step);
  }

  /** A cluster whose default range (10.0.0.0/28, and fd00::/124) gives out addresses. */
  static async ready(options: Partial<SimOptions> & { isDual?: boolean } = {}): Promise<Scenario> {
    const { isDual = false, ...rest } = options;
    const scenario = new Scenario(rest, isDual);
    await scenario.api.ready();
    return scenario;
  }

  get cluster(): SimApi["cluster"] {
    return this.api.cluster;
  }

  /** The next message of this step, or the next `times`, has this fate. */
  meet(step: ProtocolStep, fate: Fate, { skip = 0, times = 1 }: { skip?: number; times?: number } = {}): void {
    this.#plans.push({ step, fate, skip, times });
  }

  /** From now on messages get through. */
  clear(): void {
    this.#plans = [];
  }

  /** How many messages of the step wait. */
  waiting(step: ProtocolStep): number {
    return this.cluster.network.held.filter((held) => held.step === step).length;
  }

  /** Delivers what waits of this step, oldest first, and lets it work. Throws when nothing does: then the interleaving is not the one meant. */
  async deliver(step: ProtocolStep): Promise<void> {
    const { held } = this.cluster.network;
    const due = held.filter((message) => message.step === step);
    if (due.length === 0) throw new Error(`no ${step} is on its way`);
    for (const message of due) {
      held.splice(held.indexOf(message), 1);
      message.deliver();
      await this.pass(100);
    }
  }

  pass(durationMs: number): Promise<void> {
    return this.cluster.scheduler.pass(durationMs);
  }

  /** Lets time pass until so many messages of the step wait. */
  async until(step: ProtocolStep, count = 1): Promise<void> {
    for (let i = 0; i < 2_000 && this.waiting(step) < count; i++) await this.pass(50);
    if (this.waiting(step) < count) throw new Error(`no ${step} was sent`);
  }

  /** What a client asks of the ServiceCIDRs' store, without waiting for it. */
  startRange(name: string, ...cidrs: string[]): Promise<WriteResult> {
    return this.cluster.coordinator.brain.write(createRange(name, cidrs));
  }

  patchRange(name: string, patch: object): Promise<WriteResult> {
    return this.cluster.coordinator.brain.write(patchRange(name, patch));
  }

  startRangeRemoval(name: string): Promise<WriteResult> {
    return this.cluster.coordinator.brain.write(deleteRange(name));
  }

  /** Creates it and waits until it gives out addresses. */
  async range(name: string, ...cidrs: string[]): Promise<void> {
    const result = await this.api.run(this.startRange(name, ...cidrs));
    if (!result.ok) throw new Error(result.status.message);
    await this.pass(5_000);
  }

  /** ServiceCIDRs that exist, in whatever state. */
  ranges(): string[] {
    return this.cluster.tables.coordinator.store.objectScan("", "").map(({ key }) => key);
  }

  /** uid of the ServiceCIDR of this name; throws when there is none. */
  uidOf(name: string): string {
    const stored = this.cluster.tables.coordinator.store.objectGet(name);
    if (!stored) throw new Error(`no ServiceCIDR ${name}`);
    return stored.uid;
  }

  /** The configuration that the owner has; throws when it has none. */
  configOf(uid: string): Omit<OwnerConfig, "epoch"> & { epoch: number } {
    const stored = this.cluster.owner(uid).storage.configLoad();
    if (!stored) throw new Error(`${uid} has no configuration`);
    return { epoch: stored.epoch, ...(JSON.parse(stored.content) as Omit<OwnerConfig, "epoch">) };
  }

  /** What the owners hold for the address. */
  async rowsOf(address: string): Promise<{ token: string; name: string }[]> {
    const rows: { token: string; name: string }[] = [];
    for (const { node } of this.cluster.owners.values()) {
      const answer = await node.brain.rowsSince(0, 10_000);
      rows.push(...answer.rows.filter((row) => row.address === address).map(({ token, holder }) => ({ token, name: holder.name })));
    }
    return rows;
  }

  /** A new Service whose row its owner has lost, as repair proposes it. */
  async withoutRow(name: string, address: string): Promise<HeldAddress> {
    const { uid = "" } = objectOf(await this.api.create(name, { clusterIP: address })).metadata ?? {};
    for (const { token } of await this.rowsOf(address))
      for (const { node } of this.cluster.owners.values()) await this.api.run(node.brain.release([{ address, token }]));
    if ((await this.rowsOf(address)).length > 0) throw new Error(`${address} still has a row`);
    return { namespace: "default", name, uid, address, object: "", isRight: true };
  }

  parentOf(address: string): string | undefined {
    const parent = ipAddressesOf(this.cluster).find(({ metadata }) => metadata?.name === address)?.spec?.parentRef;
    return parent && `${parent.resource ?? ""}/${parent.name ?? ""}`;
  }

  /** Brings everything to rest, with a network that works, and answers what does not hold then. */
  async rest(): Promise<string[]> {
    this.clear();
    while (this.cluster.network.held.length > 0) await this.deliver(this.cluster.network.held[0]?.step as ProtocolStep);
    await this.cluster.quiesce();
    for (let round = 0; round < 2; round++) {
      await this.world.pass();
      await this.world.wait(70_000);
    }
    await this.cluster.quiesce();
    return [...(await checkQuiet(this.cluster)), ...this.cluster.momentary];
  }

  #fateOf(step: ProtocolStep | undefined): Fate | undefined {
    const plan = this.#plans.find((one) => one.step === step);
    if (!plan) return undefined;
    if (plan.skip > 0) {
      plan.skip--;
      return undefined;
    }
    if (--plan.times <= 0) this.#plans.splice(this.#plans.indexOf(plan), 1);
    return plan.fate;
  }
}
