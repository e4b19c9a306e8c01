/** Garbage collection through crashes and lost calls: one interleaving each, in a cluster whose other controllers run, too. */
import { describe, expect, it } from "vitest";
import type { OwnerReference } from "../../src/api/meta/kubernetes";
import type { DeleteOptionsRequest } from "../../src/api/rpc/store";
import type { Relative } from "../support/sim/watches/collector-watch";
import { SimFamilies } from "../support/sim/families";
import { Scenario } from "../support/sim/scenario";
import { seededRandom } from "../support/sim/platform/seeded-random";

const POLICIES = ["Background", "Foreground"] as const;
/** Longer than any pause of the collector's loop. */
const BACKOFF_MS = 120_000;

class FamilyScenario {
  readonly #families: SimFamilies;

  private constructor(readonly scenario: Scenario) {
    this.#families = new SimFamilies(scenario.cluster, this.#watch, seededRandom(1), "passing");
  }

  static async ready(): Promise<FamilyScenario> {
    return new FamilyScenario(await Scenario.ready());
  }

  get #watch(): Scenario["cluster"]["controllers"]["collectorWatch"] {
    return this.scenario.cluster.controllers.collectorWatch;
  }

  /** `Kind name` of what there is, in the order of the stores. */
  names(): string[] {
    return this.#watch.relatives().map(({ kind, object }) => `${kind} ${object.metadata?.name ?? ""}`);
  }

  find(name: string): Relative {
    const found = this.#watch.relatives().find(({ object }) => object.metadata?.name === name);
    if (!found) throw new Error(`no ${name}`);
    return found;
  }

  /** Creates the object, and answers the reference that its dependents use. */
  async make(kind: "Lease" | "Service", name: string, ...owners: OwnerReference[]): Promise<OwnerReference> {
    await this.#write(kind, this.#families.creation(kind, "default", name, owners));
    const uid = this.find(name).object.metadata?.uid ?? "";
    return { apiVersion: kind === "Lease" ? "coordination.k8s.io/v1" : "v1", kind, name, uid, blockOwnerDeletion: true };
  }

  async remove(name: string, policy: DeleteOptionsRequest["propagationPolicy"]): Promise<void> {
    const one = this.find(name);
    await this.#write(one.kind, this.#families.removal(one, policy));
  }

  async release(name: string): Promise<void> {
    const one = this.find(name);
    await this.#write(one.kind, this.#families.change(one, { finalizers: null }));
  }

  /** What is wrong when everything has come to rest. */
  async rest(): Promise<string[]> {
    const { scenario } = this;
    scenario.clear();
    while (scenario.cluster.network.held.length > 0) await this.#deliverFirst();
    await scenario.pass(BACKOFF_MS);
    scenario.cluster.controllers.cron("garbage-collection");
    await scenario.pass(BACKOFF_MS);
    return [...(await scenario.rest()), ...this.#watch.harm, ...this.#watch.atRest()];
  }

  async #deliverFirst(): Promise<void> {
    const [first] = this.scenario.cluster.network.held.splice(0, 1);
    first?.deliver();
    await this.scenario.pass(100);
  }

  async #write(kind: string, request: ReturnType<SimFamilies["creation"]>): Promise<void> {
    const { plain, services } = this.scenario.cluster;
    const result = await this.scenario.api.run(kind === "Lease" ? plain.leases.brain.write(request) : services.brain.write(request));
    if (!result.ok) throw new Error(result.status.message);
  }
}

describe("garbage collection", () => {
  it.each(POLICIES)("%s deletion of a Service, every poke lost: cron collects its dependents and theirs", async (policy) => {
    const family = await FamilyScenario.ready();
    const owner = await family.make("Service", "owned-0");
    await family.make("Lease", "grandchild", await family.make("Lease", "child", owner));
    await family.make("Lease", "stranger");
    // What the creates have asked for is done before.
    await family.scenario.pass(BACKOFF_MS);
    family.scenario.meet("pokeCollector", "lost", { times: Infinity });
    await family.remove("owned-0", policy);
    await family.scenario.pass(BACKOFF_MS);
    expect(family.names()).toContain("Lease grandchild");
    expect(await family.rest()).toEqual([]);
    expect(family.names()).toEqual(["Lease stranger"]);
  });

  it.each(["held", "answerHeld"] as const)(
    "end of a Foreground deletion %s while the collector dies: the dependent goes first, then the owner",
    async (fate) => {
      const family = await FamilyScenario.ready();
      const { scenario } = family;
      await family.make("Lease", "child", await family.make("Service", "owned-0"));
      scenario.meet("finishDeletion", fate);
      await family.remove("owned-0", "Foreground");
      await scenario.until("finishDeletion");
      expect(family.names()).toEqual(fate === "held" ? ["Service owned-0"] : []);
      scenario.cluster.controllers.of("garbage-collection").crash();
      expect(await family.rest()).toEqual([]);
      expect(family.names()).toEqual([]);
      expect(await scenario.rowsOf("10.0.0.1")).toEqual([]);
    },
  );

  it("Orphan deletion, answer of the unlinking lost and the collector dead: the dependent stays without the reference", async () => {
    const family = await FamilyScenario.ready();
    const { scenario } = family;
    await family.make("Lease", "child", await family.make("Lease", "parent"));
    scenario.meet("unlink", "replyLost");
    await family.remove("parent", "Orphan");
    await scenario.pass(1_000);
    scenario.cluster.controllers.of("garbage-collection").crash();
    expect(await family.rest()).toEqual([]);
    expect(family.names()).toEqual(["Lease child"]);
    expect(family.find("child").object.metadata?.ownerReferences).toBeUndefined();
  });

  it("delete that is late, and a dependent that gets a living owner meanwhile: stays", async () => {
    const family = await FamilyScenario.ready();
    const { scenario } = family;
    await family.make("Lease", "child", await family.make("Lease", "parent"));
    scenario.meet("collect", "late");
    await family.remove("parent", "Background");
    await scenario.until("collect");
    const other = await family.make("Lease", "other");
    const child = family.find("child");
    const request = new SimFamilies(scenario.cluster, scenario.cluster.controllers.collectorWatch, seededRandom(1), "").change(child, {
      ownerReferences: [other],
    });
    await scenario.api.run(scenario.cluster.plain.leases.brain.write(request));
    await scenario.deliver("collect");
    expect(await family.rest()).toEqual([]);
    expect(family.names().sort()).toEqual(["Lease child", "Lease other"]);
  });

  it("name that is used again between two reads of one pull: the successor's dependent is let go, not lost", async () => {
    const family = await FamilyScenario.ready();
    const { scenario } = family;
    await family.make("Lease", "child", await family.make("Service", "owned-0"));
    scenario.meet("collect", "lost", { times: Infinity });
    await family.remove("owned-0", "Foreground");
    await scenario.pass(BACKOFF_MS);
    // The store of Leases answers, that of Services later.
    scenario.meet("linkChanges", "held");
    scenario.cluster.controllers.cron("garbage-collection");
    await scenario.until("linkChanges");
    await scenario.pass(100);
    await family.release("owned-0");
    await family.make("Lease", "heir", await family.make("Service", "owned-0"));
    await family.remove("owned-0", "Orphan");
    expect(await family.rest()).toEqual([]);
    expect(family.names()).toEqual(["Lease heir"]);
  });
});
