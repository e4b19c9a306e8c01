/** I3 at the moment at which an owner gives an address out, of which nothing can be seen any more when everything is quiet. */
import type { StoredRow } from "../../../src/addresses/alloc/owner-storage";
import { parseAddressKey } from "../../../src/addresses/alloc/owner-key";
import { isConfiguredRow } from "../../../src/addresses/coordinator/state/configured-ranges";
import type { RangeRow } from "../../../src/addresses/coordinator/state/coordinator-storage";
import { formatAddress } from "../../../src/core/net/address";
import { relation } from "../../../src/core/net/prefix";
import { isUsableIn } from "../../../src/core/net/usable";
import { storedPrefix } from "../../../src/addresses/topology/stored-prefix";
import type { Contents } from "../memory/coordinator-storage";

/**
 * Follows what the Coordinator commits and what owners give out. An address may be given out when it is usable in a range that
 * - was allowed at some time since the Coordinator wrote down the configuration under whose epoch the owner acts (hazard 12): of what came
 *   after that the owner need not have heard, of what was over before it must have;
 * - is one of a ServiceCIDR that exists, is not being deleted and not turned to Ready=False: what clients can read of it holds at once.
 */
export class SimGrants {
  readonly violations: string[] = [];
  #contents: Contents | undefined;
  #commits = 0;
  /** by `owner epoch`: the commit that wrote this configuration down */
  readonly #issuedAt = new Map<string, number>();
  /** by key of a range: the last commit after which it was allowed; Infinity = it is */
  readonly #allowedUntil = new Map<string, number>();
  /** with those that are gone */
  readonly #ranges = new Map<string, RangeRow>();
  /** uids that stand for the configured ranges */
  readonly #configured = new Set<string>();

  /** The Coordinator has committed. */
  committed(contents: Contents): void {
    const before = this.#contents;
    this.#contents = contents;
    this.#commits++;
    for (const { uid, epoch } of Object.values(contents.owners)) {
      if (!this.#issuedAt.has(`${uid} ${epoch}`)) this.#issuedAt.set(`${uid} ${epoch}`, this.#commits);
    }
    if (contents.cidrs === before?.cidrs && contents.ranges === before.ranges && contents.claims === before.claims) return;
    for (const row of Object.values(contents.cidrs)) if (isConfiguredRow(row)) this.#configured.add(row.uid);
    for (const [key, range] of Object.entries(contents.ranges)) this.#ranges.set(key, range);
    for (const [key, range] of this.#ranges) {
      if (contents.ranges[key] && isAllowed(contents, range)) this.#allowedUntil.set(key, Infinity);
      else if (this.#allowedUntil.get(key) === Infinity) this.#allowedUntil.set(key, this.#commits - 1);
    }
  }

  /** An owner has committed a row for an address that it gives out; a row that it was sent by somebody else is none. */
  given(ownerUid: string, row: StoredRow): void {
    const { family, address } = parseAddressKey(row.key);
    const issuedAt = this.#issuedAt.get(`${ownerUid} ${row.gen.epoch}`) ?? Infinity;
    const around = [...this.#ranges].filter(([, { prefix }]) => isUsableIn(storedPrefix(prefix), family, address));
    if (around.some(([key, { uid }]) => (this.#allowedUntil.get(key) ?? 0) >= issuedAt && this.#isOpen(uid))) return;
    const states = around.map(([key, { uid, prefix }]) => {
      const { name, deleting, suspended } = this.#contents?.cidrs[uid] ?? {};
      return `${name ?? "(gone)"} ${prefix} ${JSON.stringify({ deleting, suspended, allowedUntil: this.#allowedUntil.get(key) })}`;
    });
    const epoch = `epoch ${row.gen.epoch} (of commit ${issuedAt}, now ${this.#commits})`;
    this.violations.push(
      `I3: ${ownerUid} gave out ${formatAddress(family, address)} under ${epoch}; around it: ${states.join(", ") || "nothing"}`,
    );
  }

  /** Without a fence goes only what stands for the configured ranges, with a deployment that turns the gate on. */
  #isOpen(cidrUid: string): boolean {
    const cidr = this.#contents?.cidrs[cidrUid];
    return cidr ? !cidr.deleting && !cidr.suspended : this.#configured.has(cidrUid);
  }
}

/** Seeded, and nothing takes it back (rule 14); where the configured ranges alone count it is one of them. */
function isAllowed({ cidrs, claims }: Contents, { uid, prefix }: RangeRow): boolean {
  const cidr = cidrs[uid];
  if (!cidr || cidr.deleting || cidr.suspended || cidr.fencedUntil > 0) return false;
  if (!isConfiguredRow(cidr) && Object.values(cidrs).some(isConfiguredRow)) return false;
  const under = Object.values(claims).filter((claim) => relation(storedPrefix(claim.prefix), storedPrefix(prefix)) !== "disjoint");
  return under.every((claim) => claim.seeded);
}
