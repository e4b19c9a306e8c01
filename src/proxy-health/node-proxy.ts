/**
 * The health of some nodes of a cluster, for load balancers: the nodes' last reports, and the facts of their Nodes that decide about new connections.
 *
 * What must always hold
 * - A check writes nothing, except for a Node that no check has found before.
 * - A fault around this object turns no node red: while the controller or the store of Nodes does not answer, the last known state holds.
 */
import type { Node } from "../api/meta/kubernetes";
import type { Clock, Recorder } from "../core/base/ports";
import type { Family } from "../core/net/family";
import { ControllerQuestion } from "./controller-question";
import { NodeFinder } from "./node-finder";
import type { NodeStorage } from "./node-storage";
import type { FamilyStates, NodeStates } from "./pushed/health-tally";
import type { Cursor, ShardChange } from "./pushed/shard-change";
import type { Report } from "./report";
import { Reports, type ReportsPorts, type ReportsSetting } from "./reports";
import { type NodeAnswer, type NodeProxyRpc, NOTHING_KNOWN, NOTHING_KNOWN_TEXT, type ReportResult } from "./rpc";
import { isEligible, nodeFacts } from "./rules/eligibility";
import { healthAnswer, type HealthPath, serviceHealthAnswer } from "./rules/health-answer";
import { type AskedService, ToldNodes } from "./told-nodes";

export interface NodeProxyPorts extends ReportsPorts {
  storage: NodeStorage;
  clock: Clock;
  recorder: Recorder;
  /** the Node as its store has it; null = there is none */
  node(name: string): Promise<string | null>;
  /** See ControllerQuestion. */
  state(known: Cursor | null, mayRest: boolean): Promise<ShardChange | null>;
}

export interface NodeProxySetting extends ReportsSetting {
  /** keys of taints that say that a node is about to go, besides the autoscaler's */
  drainingTaints: readonly string[];
  /** the gate KubeProxyDrainingTerminatingNodes: off = every node is eligible */
  drainsTerminatingNodes: boolean;
}

export class NodeProxy implements NodeProxyRpc {
  readonly #reports: Reports;
  readonly #nodes: ToldNodes;
  readonly #finder: NodeFinder;
  readonly #controller: ControllerQuestion;

  constructor(
    private readonly ports: NodeProxyPorts,
    private readonly setting: NodeProxySetting,
  ) {
    const { storage, clock, recorder, node, state } = ports;
    this.#reports = new Reports(ports, setting);
    this.#nodes = new ToldNodes(storage);
    this.#finder = new NodeFinder({
      clock,
      recorder,
      node,
      isTold: (name) => this.#nodes.isTold(name),
      isKnown: (name) => this.#nodes.factsOf(name) !== undefined,
      untold: () => this.#nodes.untold,
      cursor: () => this.#nodes.cursor,
      found: (name, object) => this.#found(name, object),
    });
    this.#controller = new ControllerQuestion({
      clock,
      recorder,
      state,
      cursor: () => this.#nodes.cursor,
      knowsChecks: () => this.#nodes.knowsChecks,
      answered: (change) => {
        if (change) this.#take(change, true);
        else this.#heard();
      },
    });
  }

  async report(name: string, report: Report): Promise<ReportResult> {
    // A Node may have come since a check asked for it.
    await this.#finder.find(name, 0);
    if (!this.#nodes.factsOf(name)) return { ok: false, reason: this.#finder.isUnanswered(name) ? "unanswered" : "unknownNode" };
    this.#reports.put(name, report);
    return { ok: true };
  }

  async health(name: string, path: HealthPath): Promise<NodeAnswer> {
    void this.#controller.ask();
    await this.#finder.find(name);
    const facts = this.#nodes.factsOf(name);
    if (!facts && !this.#finder.isKnownAbsent(name)) throw nothingKnown();
    const { drainingTaints, drainsTerminatingNodes } = this.setting;
    const nodeEligible = !drainsTerminatingNodes || isEligible(facts, drainingTaints);
    const answer = healthAnswer(path, { ...this.#reports.judge(name), nodeEligible }, this.ports.clock.now());
    return { ...answer, isOfNode: facts !== undefined };
  }

  async serviceHealth(node: string, service: AskedService, family: Family | null): Promise<NodeAnswer | null> {
    const question = this.#controller.ask();
    if (!this.#nodes.knowsChecks) await question;
    // An answer would say that no Service has a check.
    if (!this.#nodes.knowsChecks) throw nothingKnown();
    const check = this.#nodes.checkOf(service);
    const asked = family ?? check?.families[0];
    if (!check || !asked || !check.families.includes(asked)) return null;
    const localEndpoints = this.#nodes.countOf(node, check, asked);
    const answer = serviceHealthAnswer({ ...check, localEndpoints }, this.#reports.judge(node).healthy);
    return { ...answer, isOfNode: this.#nodes.factsOf(node) !== undefined };
  }

  push(change: ShardChange): Promise<Cursor | null> {
    this.#take(change, false);
    return Promise.resolve(this.#nodes.cursor ?? null);
  }

  /** The object's alarm. */
  alarm(): Promise<void> {
    this.#reports.alarm();
    return Promise.resolve();
  }

  /** How the nodes are that have an agent. */
  protected states(): NodeStates {
    return this.#reports.states();
  }

  /** How the families are of the nodes whose agents are not silent. */
  protected families(): FamilyStates {
    return this.#reports.families();
  }

  /** Called when nodes with an agent are no Nodes any more. */
  protected agentsGone(): void {
    // Nobody counts here.
  }

  #take(change: ShardChange, isAnswer: boolean): void {
    const ended = this.#nodes.take(change, this.#reports.all, this.ports.clock.now(), isAnswer);
    if (!ended) {
      this.#controller.missed();
      return;
    }
    // A Node that is gone is as one that was never seen. Whoever gets the name begins anew.
    this.#forget(ended);
    this.#heard();
  }

  #heard(): void {
    this.#controller.heard();
    this.#finder.confirm();
  }

  #found(name: string, object: string | null): void {
    if (object !== null) {
      const facts = nodeFacts(JSON.parse(object) as Node);
      if (this.#nodes.found(name, facts, this.#reports.all.get(name), this.ports.clock.now())) this.#forget([name]);
    } else if (this.#nodes.factsOf(name)) {
      this.#nodes.lost(name);
      this.#forget([name]);
    }
  }

  #forget(names: readonly string[]): void {
    if (this.#reports.forget(names)) this.agentsGone();
  }
}

function nothingKnown(): Error {
  return new Error(`${NOTHING_KNOWN}: ${NOTHING_KNOWN_TEXT}`);
}
