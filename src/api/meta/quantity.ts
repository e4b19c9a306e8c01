/** Quantities as numbers (upstream apimachinery pkg/api/resource). Their form was checked when the object was decoded. */

const MULTIPLIERS: Readonly<Record<string, number>> = {
  ...{ n: 1e-9, u: 1e-6, m: 1e-3, "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 },
  ...{ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60 },
};

/** The value; NaN for a text that is no quantity. Exact up to fifteen digits. */
export function quantityValue(text: string): number {
  const parts = /^([+-]?[\d.]+)(?:([a-zA-Z]{1,2})|[eE]([+-]?\d+))?$/.exec(text);
  const multiplier = parts?.[3] === undefined ? MULTIPLIERS[parts?.[2] ?? ""] : 10 ** Number(parts[3]);
  return parts && multiplier !== undefined ? Number((Number(parts[1]) * multiplier).toPrecision(15)) : NaN;
}

/** Whether a quantity is no whole number. Thousandths are rounded up, as upstream's MilliValue does. */
export function isFractional(text: string): boolean {
  const thousandths = Math.ceil(Number((quantityValue(text) * 1000).toPrecision(15)));
  return Number.isSafeInteger(thousandths) && thousandths % 1000 !== 0;
}
