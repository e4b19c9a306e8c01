/** Which place of the platform is nearest to who sends a request. A wrong answer costs time alone, never a failure. */
import type { Location } from "../core/config/location";

/** Data centres, by the codes of their airports, that lie where the country of a sender does not say it. Elsewhere continent and longitude decide. */
const COLOS: Readonly<Partial<Record<Location, string>>> = {
  wnam: "LAX SJC SFO SEA PDX LAS PHX SLC DEN SAN SMF YVR YYC HNL ANC ABQ",
  enam: "IAD EWR JFK BOS PHL ATL MIA TPA CLT RDU ORD DTW CLE CMH IND MSP STL MCI DFW IAH AUS BNA YYZ YUL YWG MEX QRO GUA SJU PTY",
  sam: "GRU GIG EZE SCL LIM BOG UIO ASU MVD POA CWB FOR BSB CCS",
  weur: "LHR MAN EDI DUB CDG MRS LYS AMS BRU LUX FRA DUS HAM TXL BER MUC ZRH GVA MXP FCO PMO MAD BCN LIS CPH OSL GOT KEF",
  eeur: "PRG VIE BUD WAW OTP SOF BEG ZAG SKP ATH IST KBP RIX TLL VNO HEL ARN DME LED KIV TBS EVN GYD",
  apac: "BOM DEL MAA BLR HYD CCU KHI LHE ISB DAC CMB KTM MLE ALA TSE",
  "apac-ne": "NRT HND KIX FUK OKA ICN HKG MFM TPE KHH ULN PEK SHA CAN",
  "apac-se": "SIN KUL JHB BKK CGK DPS SUB HAN SGN DAD MNL CEB PNH RGN VTE BWN",
  oc: "SYD MEL BNE PER ADL CBR HBA AKL CHC WLG NOU GUM",
  afr: "JNB CPT DUR NBO MBA LOS ACC CAI CMN TUN ALG DKR DAR KGL LAD MPM HRE EBB ADD RUN MRU TNR",
  me: "DXB AUH DOH BAH KWI MCT RUH JED DMM TLV AMM BEY BGW",
};

const BY_COLO: ReadonlyMap<string, Location> = new Map(
  (Object.entries(COLOS) as [Location, string][]).flatMap(([location, codes]) => codes.split(" ").map((code) => [code, location] as const)),
);

const NORTH_EAST_ASIA: ReadonlySet<unknown> = new Set(["CN", "HK", "JP", "KP", "KR", "MN", "MO", "TW"]);
const SOUTH_EAST_ASIA: ReadonlySet<unknown> = new Set(["BN", "ID", "KH", "LA", "MM", "MY", "PH", "SG", "TH", "TL", "VN"]);
const MIDDLE_EAST: ReadonlySet<unknown> = new Set(["AE", "BH", "IL", "IQ", "IR", "JO", "KW", "LB", "OM", "PS", "QA", "SA", "SY", "YE"]);

/** Degrees east of Greenwich. Without a longitude nothing lies east of them. */
const EASTERN_NORTH_AMERICA = -100;
const EASTERN_EUROPE = 16;
const FAR_EAST = 100;
/** From the Caucasus the objects of Europe are nearer than those of Asia. */
const BEYOND_CAUCASUS = 55;

/**
 * @param cf what the platform tells of a request; undefined = nothing, as on a server of one machine. The `colo` of the data centre that took it decides
 *   where it is known. Else `continent`, `country` and `longitude` do, which is a text of degrees
 * @returns undefined = nobody knows
 */
export function nearestLocation(cf: unknown): Location | undefined {
  if (typeof cf !== "object" || cf === null) return undefined;
  const { colo, continent, country, longitude } = cf as Readonly<Record<string, unknown>>;
  const known = typeof colo === "string" ? BY_COLO.get(colo) : undefined;
  return known ?? ofContinent(continent, country, degrees(longitude));
}

function ofContinent(continent: unknown, country: unknown, east: number): Location | undefined {
  switch (continent) {
    case "NA":
      return east < EASTERN_NORTH_AMERICA ? "wnam" : "enam";
    case "SA":
      return "sam";
    case "EU":
      // The far east of Russia.
      if (east > FAR_EAST) return "apac-ne";
      return east > EASTERN_EUROPE ? "eeur" : "weur";
    case "AS":
      if (NORTH_EAST_ASIA.has(country)) return "apac-ne";
      if (SOUTH_EAST_ASIA.has(country)) return "apac-se";
      if (MIDDLE_EAST.has(country)) return "me";
      return east < BEYOND_CAUCASUS ? "eeur" : "apac";
    case "OC":
      return "oc";
    case "AF":
      return "afr";
    default:
      return undefined;
  }
}

/** NaN = not told, which no comparison is true of. */
function degrees(longitude: unknown): number {
  return typeof longitude === "string" && longitude.trim() !== "" ? Number(longitude) : NaN;
}
