/** Proposes what is to be done about IPAddresses: wrong ones go, and those that clients made hold their rows. */
import type { IPAddress } from "../../api/meta/kubernetes";
import type { DeleteOptionsRequest } from "../../api/rpc/store";
import { chunksOf } from "../../core/base/chunks";
import type { Pace } from "../../core/base/pause";
import type { WrittenAddress } from "../rpc/repair";
import { isUncertain } from "./judge-round";
import { lookAgain } from "./look-again";
import { type Lookup, PAGE } from "./lookup";
import type { RepairPorts } from "./repair-ports";
import type { RepairReports } from "./repair-reports";
import { addressId, emptyRound, parentKey, readIPAddress, readService, type RepairRound, serviceId } from "./round";
import { isHeldBy, judgeIPAddress, type WrongAddressKind } from "./rules";

interface WrongAddress {
  object: IPAddress;
  kind: WrongAddressKind;
}

export class AddressEffects {
  constructor(
    private readonly ports: Pick<RepairPorts, "clock" | "ipAddresses" | "services" | "storage">,
    private readonly lookup: Pick<Lookup, "read">,
    private readonly reports: RepairReports,
  ) {}

  /** Judges the round's IPAddresses: has wrong ones deleted or released, and compares the rows of those that clients made. */
  async repair(round: RepairRound, pace: Pick<Pace, "breathe">): Promise<void> {
    const { clock, storage } = this.ports;
    const wrong: WrongAddress[] = [];
    const swept: IPAddress[] = [];
    for (const [name, object] of round.addresses) {
      if (!object || isUncertain(round, name)) continue;
      const service = round.services.get(parentKey(object));
      const finding = judgeIPAddress(object, service, clock.now());
      if (finding.kind === "young") storage.suspectPut(addressId(name), finding.until);
      else if (finding.kind !== "fine") wrong.push({ object, kind: finding.kind });
      else if (round.swept.has(name) && !(service && isHeldBy(service, name))) swept.push(object);
    }
    for (const chunk of chunksOf(swept, PAGE)) {
      await pace.breathe();
      await this.#makeHeld(chunk);
    }
    for (const chunk of chunksOf(wrong, PAGE)) {
      await pace.breathe();
      await this.#remove(await this.#stillWrong(chunk));
    }
  }

  /** The rows of IPAddresses that clients made: no Service speaks for them. */
  async #makeHeld(objects: readonly IPAddress[]): Promise<void> {
    const items = objects.map(({ metadata }) => ({ address: metadata?.name ?? "", object: metadata?.uid ?? "" }));
    const results = await this.ports.ipAddresses.makeHeld(items);
    const restored = items.filter((_, i) => results[i] === "restored").map(({ address }) => address);
    items.forEach(({ address }, i) => {
      if (results[i] === "busy" || results[i] === "unavailable") lookAgain(this.ports, addressId(address));
    });
    if (restored.length > 0) this.reports.ofRows(restored);
  }

  /**
   * Judges again what is there now: an object that came out of the history may have changed since, and so may its Service. What became too young by
   * that is looked at later, because no change will tell of it.
   */
  async #stillWrong(wrong: readonly WrongAddress[]): Promise<WrongAddress[]> {
    const round = emptyRound();
    const names = wrong.map(({ object }) => ({ namespace: "", name: object.metadata?.name ?? "" }));
    const texts = await this.ports.ipAddresses.objectsNamed(names);
    const objects = names.map(({ name }, i) => this.lookup.read(round, addressId(name), texts[i], readIPAddress));
    // The parents of the objects that are there now: another object may have taken the name, and it is another Service's.
    const parents = wrong.map(({ object: { spec } }, i) => {
      const { namespace = "", name = "" } = (objects[i]?.spec ?? spec)?.parentRef ?? {};
      return { namespace, name };
    });
    const services = await this.ports.services.objectsNamed(parents).catch((error: unknown) => {
      for (const { object } of wrong) {
        if (lookAgain(this.ports, addressId(object.metadata?.name ?? ""), true)) this.reports.ofAddress("unknown", object);
      }
      throw error;
    });
    const { clock, storage } = this.ports;
    const now = clock.now();
    return objects.flatMap((object, i) => {
      if (!object) return [];
      const id = serviceId(parentKey(object));
      const service = this.lookup.read(round, id, services[i], readService);
      if (round.unreadable.has(id)) return [];
      const finding = judgeIPAddress(object, service, now);
      if (finding.kind === "young") storage.suspectPut(addressId(object.metadata?.name ?? ""), finding.until);
      return finding.kind === "fine" || finding.kind === "young" ? [] : [{ object, kind: finding.kind }];
    });
  }

  /** An object that the services store wrote goes with the release of its address; any other is deleted as a client would. */
  async #remove(wrong: readonly WrongAddress[]): Promise<void> {
    if (wrong.length === 0) return;
    const writers = await this.ports.ipAddresses.writersOf(wrong.map(({ object }) => object.metadata?.name ?? ""));
    const released = await this.#giveUp(writers.filter((writer) => writer !== null));
    for (const [i, { object, kind }] of wrong.entries()) {
      const { name = "", uid = "" } = object.metadata ?? {};
      const gone = writers[i] ? released.has(name) : await deleteIPAddress(this.ports, name, uid);
      if (gone) this.reports.ofAddress(kind, object);
      else lookAgain(this.ports, addressId(name));
    }
  }

  async #giveUp(writers: WrittenAddress[]): Promise<Set<string>> {
    if (writers.length === 0) return new Set();
    const results = await this.ports.services.giveUp(writers);
    return new Set(writers.flatMap(({ address }, i) => (results[i] === "released" ? [address] : [])));
  }
}

/** Deletes an object as a client would: only the one with this uid, and its finalizers are honoured. Answers whether it is gone. */
export async function deleteIPAddress({ ipAddresses }: Pick<RepairPorts, "ipAddresses">, name: string, uid: string): Promise<boolean> {
  const options: DeleteOptionsRequest = { dryRun: false, preconditions: { uid }, propagationPolicy: "", gracePeriodSeconds: undefined };
  const result = await ipAddresses.write({ verb: "delete", key: { namespace: "", name }, options });
  return result.ok && result.gone;
}
