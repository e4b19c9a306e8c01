/** What a Service has of pools, what it lacks, and what a change makes of that, as data. */
import type { KubeObject, Service } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import type { AddressesMissing, AddressRowKey, TakenRow, WantedRow } from "../../api/rpc/load-balancers";
import { canonicalAddress, parseAddress } from "../../core/net/address";
import type { HeldByService, ServiceRows, WaitingService } from "./service-rows";
import { ingressAddresses, isBalanced, type ServiceWish, wishOf } from "./service-wish";

export type LackedAddress = Omit<WantedRow, "row">;

export interface BalancerPlan {
  /** what the Service has; another one of its name had nothing that is its own */
  readonly held: readonly TakenRow[];
  /** undefined = pools do not serve it */
  readonly wish?: ServiceWish;
  readonly keep: readonly TakenRow[];
  readonly lacks: readonly LackedAddress[];
}

/** What a change makes of a Service's addresses. */
export interface AddressOutcome {
  readonly held: HeldByService | undefined;
  readonly waiting: WaitingService | undefined;
  readonly released: readonly AddressRowKey[];
}

/** `isDefault`: Services without a class are ours. */
export interface KnownServices {
  readonly rows: Pick<ServiceRows, "held">;
  readonly isDefault: boolean;
}

/** Behind the name of the Service: a dash, and a uuid. */
const TOKEN_LENGTH = 37;

/** `namespace/name` of the Service of a row. */
export function serviceOfRow(row: AddressRowKey): string {
  return row.slice(0, -TOKEN_LENGTH);
}

export function rowFor(service: KubeObject, token: string): AddressRowKey {
  return `${keyOf(service)}-${token}`;
}

export function heldBy(service: KubeObject, rows: Pick<ServiceRows, "held">): readonly TakenRow[] {
  const held = rows.held(keyOf(service));
  return held && held.uid === service.metadata?.uid ? held.rows : [];
}

/**
 * The families of the Service are settled. Where it shares with others than before, its address has to be taken anew. An address that its status has from
 * another controller is taken over if that can be.
 */
export function addressPlan(service: Service, { rows, isDefault }: KnownServices): BalancerPlan {
  const held = heldBy(service, rows);
  if (!isBalanced(service, isDefault, held.length > 0)) return { held, keep: [], lacks: [] };
  const wish = wishOf(service);
  const ofFamily = held.filter(({ family }) => wish.families.includes(family));
  // Even then it shares by the rules that its ports and its key now have, or not at all.
  const isShared = ({ sharing }: TakenRow): boolean => sharing !== undefined && sharing !== wish.sharing;
  if (wish.problem !== undefined) return { held, wish, keep: ofFamily.filter((row) => !isShared(row)), lacks: [] };
  const isWanted = ({ family, address, sharing }: TakenRow): boolean =>
    sharing === wish.sharing && (wish.asked?.[family] ?? address) === address;
  const keep = ofFamily.filter(isWanted);
  const lacks = wish.families
    .filter((family) => !keep.some((row) => row.family === family))
    .map((family): LackedAddress => {
      const address = wish.asked?.[family];
      if (address !== undefined) return { family, address };
      const shown = (): string | undefined => ingressAddresses(service).find((one) => familyOf(one) === family);
      const preferred = ofFamily.find((row) => row.family === family)?.address ?? shown();
      return { family, ...(preferred !== undefined && { preferred }) };
    });
  return { held, wish, keep, lacks };
}

export function isFor({ family, address }: TakenRow, lack: LackedAddress): boolean {
  return family === lack.family && (lack.address === undefined || lack.address === address);
}

/** `taken`: rows for what the Service lacks; some may be for what it lacks no more. `waited`: what is known of its waiting. */
export function addressOutcome(
  service: Service,
  known: KnownServices,
  of: { taken: readonly TakenRow[]; missing: AddressesMissing | undefined; waited: WaitingService | undefined; now: number },
): AddressOutcome {
  const { held, wish, keep, lacks } = addressPlan(service, known);
  const uid = service.metadata?.uid ?? "";
  const found = lacks.map((lack) => of.taken.find((row) => isFor(row, lack)));
  // One of two is nothing, where both are wanted.
  const got = wish?.all && found.includes(undefined) ? [] : found.filter((row) => row !== undefined);
  const order = wish?.families ?? [];
  // Until the address is free that it asks for now, it has the one before. What it may share no more it has to leave.
  const stays = held.filter(
    ({ family, sharing }) =>
      sharing === wish?.sharing && lacks.some((lack, i) => lack.family === family && !got.includes(found[i] as TakenRow)),
  );
  const rows = [...keep, ...got, ...stays].toSorted((a, b) => order.indexOf(a.family) - order.indexOf(b.family));
  const released = held.filter((row) => !rows.includes(row)).map(({ row }) => row);
  const isWaiting = got.length < lacks.length && !service.metadata?.deletionTimestamp;
  const waited = of.waited?.uid === uid ? of.waited : undefined;
  const shown = lacks.flatMap(({ preferred }) => preferred ?? []);
  const told = of.missing?.why ?? waited?.told;
  const waiting: WaitingService = {
    uid,
    since: waited?.since ?? of.now,
    pools: of.missing?.pools ?? waited?.pools ?? [],
    asked: lacks.flatMap(({ address }) => address ?? []),
    ...(shown.length > 0 && { shown }),
    ...(wish?.sharing !== undefined && { shares: true }),
    ...(told !== undefined && { told }),
  };
  return { held: rows.length > 0 ? { uid, rows } : undefined, waiting: isWaiting ? waiting : undefined, released };
}

function familyOf(address: string): TakenRow["family"] | undefined {
  const parsed = parseAddress(canonicalAddress(address));
  return parsed.ok ? parsed.value.family : undefined;
}
