/**
 * Places of the platform. An object is made near the place that its first caller names, or near that caller, and never moves. So a cluster has a place
 * from its beginning, and every call to one of its objects names it.
 */

/**
 * Every place that the platform takes as a hint (Cloudflare documentation, Durable Objects, data location), with the number that stands for it in the id of
 * a cluster. A number is never given to another place. In `sam`, `afr` and `me` the platform has no objects: those land in the nearest place that has.
 */
const NUMBERS = {
  afr: 8,
  apac: 6,
  "apac-ne": 10,
  "apac-se": 11,
  eeur: 5,
  enam: 2,
  me: 9,
  oc: 7,
  sam: 3,
  weur: 4,
  wnam: 1,
} as const;

export type Location = keyof typeof NUMBERS;

/** All of them, sorted. */
export const LOCATIONS = Object.keys(NUMBERS) as readonly Location[];

export function isLocation(text: string): text is Location {
  return Object.hasOwn(NUMBERS, text);
}

/** The number of the place in ids; 0 = none. */
export function locationNumber(location: Location | undefined): number {
  return location === undefined ? 0 : NUMBERS[location];
}

/** The place with this number; undefined = none, or one that this release does not know. */
export function locationNumbered(number: number): Location | undefined {
  return LOCATIONS.find((location) => NUMBERS[location] === number);
}
