/**
 * The agent of a machine: a client of the API that makes the machine a node (docs/services-without-kubernetes.md).
 *
 *   start      the Lease may be taken → the Node is there → the Lease is held → labels → endpoints, status, Lease and proxy health are kept
 *   stop       endpoints drain while the rest goes on → end; the Node stays, and becomes Unknown when its Lease has run out, as after a kubelet
 *   leave      taint → endpoints drain, load balancers have their time → Node and Lease are deleted → end
 *   deleted    endpoints drain → end
 *   lost       another agent has the Lease → end at once, nothing is written
 *
 * Every step may come twice: an agent that was killed begins anew, and finds its own Lease, Node and Pods.
 */
import { errorOf } from "../../api/client/follow-collection";
import { pause } from "../../core/base/pause";
import { FAMILIES, familyOfText } from "../../core/net/family";
import { type AgentIdentity, ownerOf } from "./node/agent-lease";
import { type LeaseEnd, LeaseKeeper } from "./node/lease-keeper";
import { type NodeEnd, NodeKeeper } from "./node/node-keeper";
import type { Machine } from "./node/node-object";
import { type AskProxy, ProxyReporter } from "./node/proxy-reporter";
import type { AgentPorts, EndpointKeeper } from "./ports/agent-ports";
import type { ApiClient } from "./ports/api-client";

const ID_FILE = "agent-id";
const START_FILE = "agent-start";
/** How long an agent that stops tries to write what the server does not take. */
const LAST_WORDS_MS = 10_000;

export interface AgentSetting {
  readonly machine: Machine;
  readonly syncPeriodMs: number;
  readonly askProxy: AskProxy | undefined;
  /** so long after its taint, at least, a Node that leaves is deleted */
  readonly leaveAfterMs: number;
  /** makes the part that keeps the endpoints; its API answers "unanswered" while the Lease is not held */
  endpoints(ports: AgentPorts): EndpointKeeper;
  /** The node is held and its endpoints are being kept. */
  onReady(): void;
}

/** How an agent ended: the exit code of its program, and why. */
export interface Ending {
  readonly code: 0 | 1;
  readonly message: string;
}

/** What the operator asks for. `leave`: the Node goes, too. */
export type Stop = "stop" | "leave";

type End = LeaseEnd | NodeEnd | { readonly kind: Stop };

/** Makes the machine a node until it is stopped, the Node is deleted, or another agent has it. Rejects when the state files fail. */
export async function runAgent(ports: AgentPorts, setting: AgentSetting, asked: Promise<Stop>): Promise<Ending> {
  const { files, random } = ports;
  const id = (await files.read(ID_FILE))?.trim() ?? "";
  const identity: AgentIdentity = {
    node: setting.machine.name,
    id: id === "" ? random.uuid() : id,
    start: { count: await countStart(ports), nonce: random.uuid() },
  };
  // Before anything is written that names it.
  if (id === "") await files.write(ID_FILE, `${identity.id}\n`);
  return new Agent(ports, setting, identity).run(asked);
}

/** The number of this start. One that cannot be kept orders nothing at the next start, and hinders nobody. */
async function countStart({ files, recorder }: Pick<AgentPorts, "files" | "recorder">): Promise<number> {
  const counted = Number((await files.read(START_FILE)) ?? 0);
  const count = Number.isSafeInteger(counted) && counted > 0 ? counted + 1 : 1;
  try {
    await files.write(START_FILE, `${String(count)}\n`);
  } catch (error) {
    recorder.log("warn", "the number of this start cannot be kept", { reason: errorOf(error).message });
  }
  return count;
}

class Agent {
  readonly #lease: LeaseKeeper;
  readonly #node: NodeKeeper;
  readonly #reporter: ProxyReporter;
  readonly #endpoints: EndpointKeeper;
  #renewals: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly ports: AgentPorts,
    private readonly setting: AgentSetting,
    identity: AgentIdentity,
  ) {
    const { machine, syncPeriodMs: periodMs, askProxy: ask } = setting;
    this.#lease = new LeaseKeeper(ports, identity);
    const held = { ...ports, api: heldApi(ports.api, this.#lease) };
    this.#node = new NodeKeeper(held, machine);
    const families = FAMILIES.filter((family) => machine.addresses.some((address) => familyOfText(address) === family));
    this.#reporter = new ProxyReporter(held, { node: machine.name, families, periodMs, ask });
    this.#endpoints = setting.endpoints(held);
  }

  async run(asked: Promise<Stop>): Promise<Ending> {
    const end = await this.#live(asked);
    this.#lease.stop();
    this.#node.stop();
    this.#reporter.stop();
    return this.#endingOf(end);
  }

  async #live(asked: Promise<Stop>): Promise<End> {
    const stopped = asked.then((kind): End => ({ kind }));
    const begun = await Promise.race([this.#begin(), stopped]);
    if (begun.kind === "leave") this.ports.recorder.log("warn", "the Node stays if there is one: the agent has not held it");
    if (begun.kind !== "held") return begun;
    const { machine, onReady } = this.setting;
    const { uid } = begun;
    // From now on: the rest of the beginning may take longer than the Lease lasts.
    const lease = this.#lease.keep(ownerOf(machine.name, uid), () => {
      this.#node.serverIsBack();
      this.ports.api.followAnew();
    });
    this.#renewals = lease;
    // The loop of the Lease is stopped only at the end.
    const lost = new Promise<LeaseEnd>((resolve) => void lease.then((end) => void (end.kind === "foreign" && resolve(end))));
    const taken = await Promise.race([lost, stopped, this.#node.takeOver()]);
    if (taken.kind !== "done") return taken.kind === "leave" ? Promise.race([lost, this.#drain(taken)]) : taken;
    const node = this.#node.keep();
    void this.#reporter.keep();
    this.#endpoints.start({ name: machine.name, uid, addresses: machine.addresses });
    onReady();
    const end = await Promise.race([lost, node, stopped]);
    const last = end.kind === "foreign" ? end : await Promise.race([lost, this.#drain(end)]);
    if (last.kind === "foreign") this.#endpoints.abandon();
    return last;
  }

  async #begin(): Promise<{ readonly kind: "held"; readonly uid: string } | End> {
    const { machine } = this.setting;
    const free = await this.#lease.untilFree();
    if (free.kind !== "free") return free;
    const there = await this.#node.ensure(this.ports.api);
    if (there.kind !== "there") return there;
    const held = await this.#lease.take(ownerOf(machine.name, there.uid));
    return held.kind === "held" ? { kind: "held", uid: there.uid } : held;
  }

  async #drain(end: End): Promise<End> {
    const { clock, recorder } = this.ports;
    if (end.kind === "gone") this.#lease.nodeIsGone();
    if (end.kind !== "leave") {
      await this.#endpoints.stop();
      return end;
    }
    recorder.log(
      "info",
      "the Node is tainted and then deleted; another Ctrl-C, a second later, ends the agent at once and leaves the Node",
      {
        seconds: this.setting.leaveAfterMs / 1_000,
      },
    );
    const tainted = await this.#node.taint(LAST_WORDS_MS);
    if (tainted.kind === "done") await Promise.all([this.#endpoints.stop(), pause(clock, this.setting.leaveAfterMs)]);
    else await this.#endpoints.stop();
    // The Lease is renewed meanwhile: the Node is deleted only while it is held.
    const isRemoved = await this.#node.remove(LAST_WORDS_MS);
    if (isRemoved) this.#lease.nodeIsGone();
    this.#lease.stop();
    await this.#renewals;
    if (isRemoved) await this.#lease.remove();
    else recorder.log("warn", "the Node stays: the API server has not deleted it");
    return end;
  }

  #endingOf(end: End): Ending {
    const { name } = this.setting.machine;
    if (end.kind === "foreign") return { code: 1, message: `another agent has the node ${name}: ${end.holder}` };
    if (end.kind === "refused") return { code: 1, message: `the API server refuses the Node ${name}: ${end.message}` };
    return { code: 0, message: end.kind === "gone" ? `the Node ${name} is deleted` : "stopped" };
  }
}

/** An API that answers only while the Lease is held: nobody else can have the node then. */
function heldApi(api: ApiClient, lease: Pick<LeaseKeeper, "isHeld">): ApiClient {
  const notHeld = { kind: "unanswered", message: "the Lease of the node is not held" } as const;
  return {
    request: (...asked) => (lease.isHeld ? api.request(...asked) : Promise.resolve(notHeld)),
    follow: (followed) => api.follow(followed),
    followAnew: () => api.followAnew(),
  };
}
