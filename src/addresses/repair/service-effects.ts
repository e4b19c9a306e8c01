/** Proposes what is to be done about the addresses of Services, and follows up on the answers. */
import { chunksOf } from "../../core/base/chunks";
import type { IPAddress, Service } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import type { Pace } from "../../core/base/pause";
import type { ObjectKey } from "../../api/rpc/store";
import type { Prefix } from "../../core/net/prefix";
import type { HeldAddress, WholeResult } from "../rpc/repair";
import type { PrefixIndex } from "../topology/prefix-index";
import { deleteIPAddress } from "./address-effects";
import { judgeInRound } from "./judge-round";
import { lookAgain } from "./look-again";
import { type Lookup, PAGE } from "./lookup";
import type { NodePortQuestion } from "./node-port-check";
import type { RepairPorts } from "./repair-ports";
import type { RepairReports } from "./repair-reports";
import { emptyRound, readService, type RepairRound, serviceId, wantSuspect } from "./round";
import { MisplacedServices } from "./tenants/misplaced";
import { clusterIPTextsOf } from "../../api/registry/services/held-by-service";
import { type ClusterIP, readClusterIP, type ServiceFinding } from "./rules";

/** An address of a Service that its store is to make whole. */
interface Proposal {
  service: Service;
  ip: ClusterIP;
  finding: ServiceFinding;
  item: HeldAddress;
}

/** An address of a Service that repair cannot put right, as far as is known. */
interface Doubt {
  service: Service;
  /** as clusterIPs has it */
  text: string;
  finding: Extract<ServiceFinding, "invalid" | "outOfRange" | "duplicate">;
}

export class ServiceEffects {
  readonly #misplaced: MisplacedServices;

  constructor(
    private readonly ports: Pick<RepairPorts, "clock" | "events" | "ipAddresses" | "namespaces" | "services" | "storage">,
    private readonly lookup: Lookup,
    private readonly reports: RepairReports,
  ) {
    this.#misplaced = new MisplacedServices(ports);
  }

  /**
   * Puts right what is wrong with the addresses of the round's Services, and reports what nobody but a client can put right. The call with the first
   * proposals also asks the store to compare node ports, if `comparison` has any to compare.
   */
  async repair(
    round: RepairRound,
    ranges: PrefixIndex<Prefix>,
    pace: Pick<Pace, "breathe">,
    comparison?: () => NodePortQuestion | undefined,
  ): Promise<void> {
    const { proposals, doubts } = judge(round, ranges);
    for (const [i, chunk] of chunksOf(proposals, PAGE).entries()) {
      await pace.breathe();
      await this.#propose(chunk, i === 0 ? comparison?.() : undefined);
    }
    for (const chunk of chunksOf(doubts, PAGE)) {
      await pace.breathe();
      await this.#reportDoubts(chunk);
    }
    await this.#misplaced.report(round.services.values(), round.services.size > 0 ? this.lookup.kept : undefined);
  }

  async #propose(proposals: readonly Proposal[], comparison: NodePortQuestion | undefined): Promise<void> {
    const results = await this.#madeWhole(
      proposals.map(({ item }) => item),
      comparison,
    );
    // The Services that are left open, with those of their addresses that are to be reported.
    const open = new Map<string, Proposal[]>();
    for (const [i, proposal] of proposals.entries()) {
      const { finding, item } = proposal;
      // A wrong object that holds the address for itself goes first; its row goes with it.
      if (results[i] === "heldByObject" && finding !== "fine" && item.object) await deleteIPAddress(this.ports, item.address, item.object);
      const left = this.#conclude(proposal, results[i] ?? "unavailable");
      if (left === "nothing") continue;
      const id = serviceId(keyOf(proposal.service));
      open.set(id, [...(open.get(id) ?? []), ...(left === "unknown" ? [proposal] : [])]);
    }
    for (const [id, unknown] of open) {
      if (!lookAgain(this.ports, id, unknown.length > 0)) continue;
      for (const { service, ip } of unknown) this.reports.ofService("unknown", service, ip);
    }
  }

  async #madeWhole(items: HeldAddress[], comparison: NodePortQuestion | undefined): Promise<WholeResult[]> {
    const { services } = this.ports;
    if (!comparison) return services.makeWhole(items);
    const { addresses, nodePorts } = await services.makeServicesWhole(items, comparison.seen);
    comparison.told(nodePorts);
    return addresses;
  }

  /** Reports what was done. Answers what is left: `unknown` = left open for a reason that is not known, which is to be reported. */
  #conclude({ service, ip, finding }: Proposal, result: WholeResult): "nothing" | "open" | "unknown" {
    switch (result) {
      case "restored":
        // `fine`: the object was right when it was read, and is gone since.
        this.reports.ofService(finding === "fine" ? "missing" : finding, service, ip);
        return "nothing";
      case "duplicate":
        this.reports.ofService("duplicate", service, ip);
        return "nothing";
      case "heldByObject":
        // An object that is right and this Service's keeps the address for it.
        return finding === "fine" ? "nothing" : "open";
      case "unavailable":
        return "unknown";
      case "busy":
        return "open";
      case "notReady":
      case "whole":
      case "gone":
        return "nothing";
    }
  }

  /**
   * An object that came out of the history may have changed since. So a doubt is reported only when everything was read anew, the Service is the
   * same before and after that, and it is wrong still.
   */
  async #reportDoubts(doubts: readonly Doubt[]): Promise<void> {
    const round = emptyRound();
    for (const { service } of doubts) wantSuspect(round, serviceId(keyOf(service)));
    await this.lookup.complete(round);
    const ranges = await this.lookup.rangesFor(round);
    const texts = await this.ports.services.objectsNamed(doubts.map(({ service }) => objectKey(service)));
    for (const [i, { service: seen, text, finding }] of doubts.entries()) {
      const id = serviceId(keyOf(seen));
      const [before, after] = [round.services.get(keyOf(seen)), this.lookup.read(round, id, texts[i], readService)];
      // The Service is gone, or another one is in its place, which the history announces.
      if (!before || after?.metadata?.uid !== seen.metadata?.uid) continue;
      const ip = readClusterIP(text);
      const isSame = before.metadata?.resourceVersion === after?.metadata?.resourceVersion && clusterIPTextsOf(before).includes(text);
      if (isSame && judgeInRound(round, ranges, before, ip) === finding) this.reports.ofService(finding, before, ip);
      else lookAgain(this.ports, id);
    }
  }
}

/** What is to be done about the Services of a round. Healthy addresses are proposed only where their rows are compared too. */
function judge(round: RepairRound, ranges: PrefixIndex<Prefix>): { proposals: Proposal[]; doubts: Doubt[] } {
  const proposals: Proposal[] = [];
  const doubts: Doubt[] = [];
  for (const service of round.services.values()) {
    for (const text of clusterIPTextsOf(service)) {
      const ip = readClusterIP(text);
      const finding = judgeInRound(round, ranges, service, ip);
      if (finding === "invalid" || finding === "outOfRange" || finding === "duplicate") doubts.push({ service, text, finding });
      else if (ip && finding && (finding !== "fine" || round.swept.has(ip.address) || round.suspects.has(keyOf(service)))) {
        proposals.push({ service, ip, finding, item: heldAddress(service, ip, finding, round.addresses.get(ip.address)) });
      }
    }
  }
  return { proposals, doubts };
}

function heldAddress(service: Service, ip: ClusterIP, finding: ServiceFinding, object: IPAddress | undefined): HeldAddress {
  const { namespace = "", name = "", uid = "" } = service.metadata ?? {};
  return { namespace, name, uid, address: ip.address, object: object?.metadata?.uid ?? "", isRight: finding === "fine" };
}

function objectKey({ metadata }: Service): ObjectKey {
  return { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "" };
}
