/** The tables are answers of kube-apiserver 1.36.2: `emptyDir.sizeLimit` of Pods and `spec.hard` of ResourceQuotas. */
import { expect, it } from "vitest";
import { ok } from "../../../../src/core/base/result";
import { pick, seededRandom } from "../../../support/sim/platform/seeded-random";
import { canonicalQuantity, compareQuantities, isFractional, quantityOf, quantityValue } from "../../../../src/api/schema/quantity";

/** the text, the quantity, the quantity in a list of resources when it differs */
const TABLE: readonly (readonly [string, string, string?])[] = [
  ["0", "0"],
  ["00", "0"],
  ["+0", "0"],
  ["-0", "0"],
  ["0.0", "0"],
  [".0", "0"],
  ["0k", "0"],
  ["0Ki", "0"],
  ["0e5", "0"],
  ["1", "1"],
  ["+1", "+1"],
  ["01", "01"],
  ["007", "007"],
  ["1.", "1."],
  ["1.0", "1"],
  ["1.5", "1500m"],
  ["1.50", "1500m"],
  ["1.500", "1.500"],
  ["1.5000", "1500m"],
  ["0.5", "500m"],
  [".5", "500m"],
  ["0.1k", "100"],
  ["0.1", "100m"],
  ["0.01", "10m"],
  ["0.001", "1m"],
  ["0.0001", "100u", "1m"],
  ["0.0000001", "100n", "1m"],
  ["0.0000000001", "1n", "1m"],
  ["1n", "1n", "1m"],
  ["1u", "1u", "1m"],
  ["1m", "1m"],
  ["999m", "999m"],
  ["1000m", "1"],
  ["1500m", "1500m"],
  ["2000m", "2"],
  ["100m", "100m"],
  ["1000u", "1m"],
  ["1000000n", "1m"],
  ["1500u", "1500u", "2m"],
  ["1k", "1k"],
  ["1000", "1k"],
  ["1000k", "1M"],
  ["1000M", "1G"],
  ["10000", "10k"],
  ["1500", "1500"],
  ["1500k", "1500k"],
  ["1.5k", "1500"],
  ["1.5M", "1500k"],
  ["1.5G", "1500M"],
  ["1E", "1E"],
  ["10E", "10E"],
  ["1.5E", "1500P"],
  ["1e3", "1e3"],
  ["1E3", "1E3"],
  ["1e2", "100"],
  ["1E2", "100"],
  ["1e1", "10"],
  ["1e0", "1e0"],
  ["1e-1", "100e-3"],
  ["1e-3", "1e-3"],
  ["1e-5", "10e-6", "1e-3"],
  ["1e-9", "1e-9", "1e-3"],
  ["1e-10", "1e-9", "1e-3"],
  ["1e-20", "1e-9", "1e-3"],
  ["5e4", "50e3"],
  ["5e5", "500e3"],
  ["1500e3", "1500e3"],
  ["1000e3", "1e6"],
  ["1e+3", "1e+3"],
  ["1.5e3", "1500"],
  ["12e30", "12e30"],
  ["1e30", "1e30"],
  ["1Ki", "1Ki"],
  ["1Mi", "1Mi"],
  ["1Gi", "1Gi"],
  ["1Ti", "1Ti"],
  ["1Pi", "1Pi"],
  ["1Ei", "1Ei"],
  ["7Ei", "7Ei"],
  ["8Ei", "9223372036854775807"],
  ["9Ei", "9223372036854775807"],
  ["16Ei", "9223372036854775807"],
  ["1024Ki", "1Mi"],
  ["1024Mi", "1Gi"],
  ["2048Mi", "2Gi"],
  ["512Mi", "512Mi"],
  ["1000Mi", "1000Mi"],
  ["1536Mi", "1536Mi"],
  ["1.5Gi", "1536Mi"],
  ["0.5Gi", "512Mi"],
  ["0.5Ki", "512"],
  ["0.001Ki", "1024m"],
  ["1.0005Ki", "1024512m"],
  ["0.1Ki", "102400m"],
  ["1.1Ki", "1126400m"],
  ["1.1Mi", "1153433600m"],
  ["1.1Gi", "1181116006400m"],
  ["100Ki", "100Ki"],
  ["8Ki", "8Ki"],
  ["16Ki", "16Ki"],
  ["1023Ki", "1023Ki"],
  ["1025Ki", "1025Ki"],
  ["+1Ki", "+1Ki"],
  ["01Ki", "01Ki"],
  ["1.Ki", "1.Ki"],
  ["1.0Ki", "1Ki"],
  ["10000Ki", "10000Ki"],
  ["1048576Ki", "1Gi"],
  ["1073741824Ki", "1Ti"],
  ["9223372036854775807", "9223372036854775807"],
  ["9223372036854775808", "9223372036854775808"],
  ["99999999999999999999", "99999999999999999999"],
  ["123456789012345678", "123456789012345678"],
  ["1234567890123456789", "1234567890123456789"],
  ["+1234567890123456789", "1234567890123456789"],
  ["001234567890123456789", "1234567890123456789"],
  ["1234567890123456789012345", "1234567890123456789012345"],
  ["100000000000000000000", "100E"],
  ["1000000000000000000", "1E"],
  ["12345678901234567.8", "12345678901234567800m"],
  ["0.123456789", "123456789n", "124m"],
  ["0.1234567891", "123456790n", "124m"],
  ["1.23456789", "1234567890n", "1235m"],
  ["1.123456789123", "1123456790n", "1124m"],
  ["123456789.123456789", "123456789.123456789", "123456789124m"],
  ["9223372036854775807Ki", "9223372036854775807"],
  ["9999999999999Ki", "9999999999999Ki"],
  ["99999999999999999999Ki", "9223372036854775807"],
  [" 1", "1"],
  [" 1 ", "1"],
  ["1 ", "1"],
  ["+", "0"],
  ["-", "0"],
  [".", "0"],
  ["k", "0"],
  ["Ki", "0"],
  ["e3", "0"],
  ["-k", "0"],
  ["+.", "0"],
  ["1T", "1T"],
  ["1P", "1P"],
  ["1\u00a0", "1"],
  ["9e18", "9e18"],
  ["9.5e18", "9500e15"],
  ["1e18", "1e18"],
  ["1e19", "10e18"],
  ["1e20", "100e18"],
  ["0.9Ki", "921600m"],
  ["-.", "0"],
  ["12.345", "12.345"],
  ["12.345Mi", "12944670720m"],
  ["0.00001Ki", "10240u", "11m"],
  ["1000000000000000000000n", "1T"],
  ["1000000000n", "1"],
  ["1e-4", "100e-6", "1e-3"],
  ["123e-5", "1230e-6", "2e-3"],
  ["123e4", "1230e3"],
  ["1230e4", "12300e3"],
  ["12300e4", "123e6"],
  ["123000e4", "1230e6"],
  ["07560.4578M", "7560457800"],
  ["0965485558078732373.956316850e18", "965485558078732373956316850e9"],
  ["666211e2", "66621100"],
  ["0400000000000000000e25", "4e42"],
  ["70e-3", "70e-3"],
  ["688340000.060e-12", "688341e-9", "1e-3"],
  ["0n", "0"],
  ["+19335103526100000000000.9Pi", "9223372036854775807"],
  ["8000000000000000000Ei", "9223372036854775807"],
  ["467943e-9", "467943e-9", "1e-3"],
  ["01000000000000e-7", "100e3"],
  ["+46477986241000000000.00e18", "46477986241e27"],
  ["8T", "8T"],
  ["+095973516894933572.8358m", "95973516894933572835800n", "95973516894933573m"],
  ["513320860.553676G", "513320860.553676G"],
  ["+156.158370000000Ti", "171697943589546885120u", "171697943589546886m"],
  ["4e5", "400e3"],
  ["55093867012851524247.3842400000E", "55093867012851524247384240T"],
  ["0744950509364457792e+15", "0744950509364457792e+15"],
  ["0.000000000M", "0"],
  ["0.0900E", "90P"],
  ["+8561950387716e+15", "+8561950387716e+15"],
  ["070000000000000000000000.169Mi", "9223372036854775807"],
  ["05340", "05340"],
  ["0.000Mi", "0"],
  ["+615250000.G", "615250T"],
  ["03000000000000000000e-12", "3e6"],
  ["0u", "0"],
  ["47732801200000000k", "47732801200G"],
  ["905000.00Ei", "9223372036854775807"],
  ["+070000000000000000000e-7", "7e12"],
  ["+5.717522755e0", "+5.717522755e0", "5718e-3"],
  ["500000000000000000.411006e-1", "50000000000000000041100600e-9", "50000000000000000042e-3"],
  ["+0900000000.352e-1", "90000000035200e-6", "90000000036e-3"],
  ["86381070746100000000000e3", "86381070746100e12"],
  ["326693u", "326693u", "327m"],
  ["0e-4", "0"],
  ["7e+15", "7e+15"],
  ["030000000000000000000000.1259939419G", "30000000000000000000000125993941900m"],
  ["0738099947300000000.457000e4", "7380999473000000004570"],
  ["+600.138369138693e+15", "+600.138369138693e+15"],
  ["2000000000000.0000000000e4", "20e15"],
  ["79130684600000000e6", "79130684600e12"],
  ["29e2", "2900"],
  ["2937729683172e6", "2937729683172e6"],
  ["+4E9", "+4E9"],
  ["9.0000e-2", "90e-3"],
  ["081.868T", "081.868T"],
  ["1326892562000000000Ei", "9223372036854775807"],
  ["070560976129000000000e-3", "70560976129e6"],
  ["+36167845700000000.703000E9", "36167845700000000703e6"],
  ["065465116371000000000.7e6", "65465116371000000000700e3"],
  ["546688e25", "5466880e24"],
  ["0980.0000e3", "980e3"],
  ["094820292300000000e0", "94820292300e6"],
  ["0959065062691414342e25", "9590650626914143420e24"],
  ["1.829130000G", "1829130k"],
  ["1000000000000000000e0", "1e18"],
  ["0.955568405m", "955569n", "1m"],
];

const NEGATIVE: readonly (readonly [string, string])[] = [
  ["-1", "-1"],
  ["-.5", "-500m"],
  ["-1Ki", "-1Ki"],
  ["-8Ki", "-8Ki"],
  ["-1024Ki", "-1Mi"],
  ["-0.5Ki", "-512"],
  ["-8Ei", "-9223372036854775807"],
  ["-9Ei", "-9223372036854775807"],
  ["-1.5", "-1500m"],
  ["-1500m", "-1500m"],
  ["-0.1m", "-1m"],
  ["-1n", "-1m"],
  ["-1.1n", "-1m"],
  ["-1.0000000001", "-1001m"],
];

const FORM = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const SUFFIX = "unable to parse quantity's suffix";
const REFUSED: readonly (readonly [string, string])[] = [
  ["1e99999999999999999999", SUFFIX],
  ["1  Ki", FORM],
  ["", FORM],
  ["  ", FORM],
  ["1z", FORM],
  ["1i", SUFFIX],
  ["1ki", SUFFIX],
  ["1K", SUFFIX],
  ["1mi", SUFFIX],
  ["1KI", FORM],
  ["1ee", SUFFIX],
  ["1e", SUFFIX],
  ["1e+", SUFFIX],
  ["1eK", SUFFIX],
  ["1e3k", FORM],
  ["1.2.3", FORM],
  ["1,5", FORM],
  ["--1", SUFFIX],
  ["+-1", SUFFIX],
  ["1 2", FORM],
  ["0x10", FORM],
  ["1kk", SUFFIX],
  ["1Kii", SUFFIX],
  ["Infinity", FORM],
  ["NaN", FORM],
  ["1e1.5", FORM],
  ["1-", SUFFIX],
  ["1+", SUFFIX],
  ["1k3", SUFFIX],
  ["1m2", SUFFIX],
  ["1u-", SUFFIX],
  ["1Gi3", SUFFIX],
  ["1t", FORM],
  ["1g", FORM],
  ["1 000", FORM],
  ["\uff11", FORM],
  ["1\t", FORM],
  ["\t1", FORM],
  ["1\n", FORM],
  ["1_000", FORM],
  ["..", FORM],
];

it("quantities: canonical as upstream's", () => {
  const got = TABLE.map(([text]) => [text, canonicalQuantity(text, -9), canonicalQuantity(text, -3)]);
  const ok = (value: string) => ({ ok: true, value });
  expect(got).toEqual(TABLE.map(([text, alone, listed = alone]) => [text, ok(alone), ok(listed)]));
});

it("negative quantities: canonical as upstream's", () => {
  const got = NEGATIVE.map(([text]) => [text, canonicalQuantity(text, -3)]);
  expect(got).toEqual(NEGATIVE.map(([text, value]) => [text, { ok: true, value }]));
});

it("texts that are no quantities: refused in upstream's words", () => {
  const got = REFUSED.map(([text]) => [text, canonicalQuantity(text, -9)]);
  expect(got).toEqual(REFUSED.map(([text, error]) => [text, { ok: false, error }]));
});

it("a canonical quantity: stays as it is", () => {
  for (const [, alone, listed = alone] of TABLE) {
    expect([canonicalQuantity(alone, -9), canonicalQuantity(listed, -3)]).toEqual([
      { ok: true, value: alone },
      { ok: true, value: listed },
    ]);
  }
});

// kube-apiserver writes no suffix here: `1`
it.each([
  ["1000E", "1e21"],
  ["2000000E", "2e24"],
  ["-1000E", "-1e21"],
  ["1500000E", "1500e21"],
  ["1000000000000000000000", "1e21"],
  ["050000000000000000000000.000000G", "50e30"],
])("%s, for which there is no suffix: %s, which is the same amount", (text, want) => {
  expect([canonicalQuantity(text, -9), canonicalQuantity(text, -3)]).toEqual([ok(want), ok(want)]);
  expect(canonicalQuantity(want, -9)).toEqual(ok(want));
  expect(compareQuantities(text, want)).toBe(0);
});

it.each([
  ["a huge exponent", "1e999999999"],
  ["a tiny one", "1e-999999999"],
  ["very many digits", "9".repeat(100_000)],
  ["very many digits and no end", `${"9".repeat(100_000)}x`],
])("%s: refused at once", (_, text) => {
  expect(canonicalQuantity(text, -9).ok).toBe(false);
});

it.each<[string, string, number]>([
  ["1", "1000m", 0],
  ["1Gi", "1024Mi", 0],
  ["1Gi", "1G", 1],
  ["1n", "0", 1],
  ["-1", "1", -1],
  ["9007199254740993", "9007199254740992", 1],
  ["1e1000", "1e999", 1],
  ["1e-1000", "0", 1],
  ["8Ei", "9223372036854775807", 0],
])("quantity %s compared with %s: %d", (a, b, order) => {
  expect([compareQuantities(a, b), compareQuantities(b, a)]).toEqual([order, order === 0 ? 0 : -order]);
});

it.each<[string, number, boolean]>([
  ["0", 0, false],
  ["12", 12, false],
  ["-3", -3, false],
  ["1.5", 1.5, true],
  ["1500m", 1.5, true],
  ["2000m", 2, false],
  ["1k", 1_000, false],
  ["1Ki", 1_024, false],
  ["0.5Ki", 512, false],
  ["2e3", 2_000, false],
  ["1E", 1e18, false],
  ["1E1", 10, false],
  [".5", 0.5, true],
])("quantity %s: %d, fractional %s", (text, value, fractional) => {
  expect([quantityValue(text), isFractional(text)]).toEqual([value, fractional]);
});

it("a text that is no quantity: no number", () => {
  expect(quantityValue("many")).toBeNaN();
});

it("numbers of objects as quantities: canonical", () => {
  expect([0, 7, 999, 1000, 1001, 2_000_000].map(quantityOf)).toEqual(["0", "7", "999", "1k", "1001", "2M"]);
});

it("whole numbers with and without suffix: read at first sight as by the whole rule", () => {
  const digits = ["1", "7", "8", "512", "999", "1000", "1001", "1024", "1536", "8192", "12000", "1048576", "5000000", "1073741824"];
  const long = ["123456789012", "99999999999999", "100000000000000", "999999999999999", "1000000000000000", "123456789012345678"];
  for (const smallest of [-3, -9] as const) {
    for (const number of [...digits, ...long]) {
      for (const suffix of ["", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]) {
        const text = number + suffix;
        // Spaces do not count, and no text with one is known at first sight.
        expect(canonicalQuantity(text, smallest), text).toEqual(canonicalQuantity(` ${text}`, smallest));
      }
    }
  }
});

it.each([
  ["1e-999", "1e-9", 1],
  ["-1e-999", "-1e-9", -1],
  ["0e-999", "0", 0],
  ["123e-12", "1e-9", 1],
  ["1234e-12", "2e-9", 1],
])("%s, less than the smallest unit: rounded away from zero", (text, canonical, sign) => {
  expect(canonicalQuantity(text, -9)).toEqual(ok(canonical));
  expect(Math.sign(compareQuantities(text, "0"))).toBe(sign);
});

/** A whole number of 10^-30, rounded away from zero to billionths. */
function reference(number: string, exponent: number): bigint {
  const [whole = "", fraction = ""] = number.replace(/^[-+]/, "").split(".");
  const scaled = BigInt(`0${whole}${fraction}`) * 10n ** BigInt(30 + exponent - fraction.length);
  const billionth = 10n ** 21n;
  const magnitude = ((scaled + billionth - 1n) / billionth) * billionth;
  return number.startsWith("-") ? -magnitude : magnitude;
}

it("random amounts: compared, and found to be whole, as exact arithmetic does it", () => {
  const random = seededRandom(3);
  const digits = (): string => Array.from({ length: random.below(22) }, () => pick(random, ["0", "0", "9", "1", "5"])).join("");
  const amount = (): [string, bigint] => {
    const number = `${pick(random, ["", "", "-", "+"])}${digits()}${pick(random, ["", `.${digits().slice(0, 12)}`])}`;
    const [suffix, exponent] = pick<[string, number]>(random, [
      ["", 0],
      ["n", -9],
      ["m", -3],
      ["k", 3],
      ["e-9", -9],
      ["e5", 5],
      ["E", 18],
    ]);
    return number === "" ? ["0", 0n] : [number + suffix, reference(number, exponent)];
  };
  const kilo = 10n ** 27n;
  for (let i = 0; i < 3_000; i++) {
    const [[a, left], [b, right]] = [amount(), amount()];
    expect(Math.sign(compareQuantities(a, b)), `${a} and ${b}`).toBe(left < right ? -1 : left > right ? 1 : 0);
    const magnitude = left < 0n ? -left : left;
    const thousandths = (magnitude + kilo - 1n) / kilo;
    expect(isFractional(a), a).toBe(thousandths % 1000n !== 0n);
    const canonical = canonicalQuantity(a, -9);
    if (canonical.ok) expect(compareQuantities(canonical.value, a), a).toBe(0);
  }
});

it.each([
  ["7.9999999999999999999Ei", "9223372036854775807"],
  ["8Ei", "9223372036854775807"],
  ["9007199254740991Ki", "9007199254740991Ki"],
  ["9007199254740992Ki", "9223372036854775807"],
  [".1Ki", "102400m"],
  ["0.5Ki", "512"],
  ["-1.5Mi", "-1536Ki"],
  ["1e-999", "1e-9"],
  ["-1e-999", "-1e-9"],
  ["999999999999999999.9999999999", "1E"],
])("%s: the quantity %s", (text, want) => {
  expect(canonicalQuantity(text, -9)).toEqual(ok(want));
});
