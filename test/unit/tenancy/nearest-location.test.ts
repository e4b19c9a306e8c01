import { describe, expect, it } from "vitest";
import { isLocation, locationNumber, locationNumbered, LOCATIONS } from "../../../src/core/config/location";
import { nearestLocation } from "../../../src/tenancy/nearest-location";

describe("places", () => {
  it("have numbers of their own, which no release changes", () => {
    expect(LOCATIONS.map((location) => [location, locationNumber(location)])).toEqual([
      ["afr", 8],
      ["apac", 6],
      ["apac-ne", 10],
      ["apac-se", 11],
      ["eeur", 5],
      ["enam", 2],
      ["me", 9],
      ["oc", 7],
      ["sam", 3],
      ["weur", 4],
      ["wnam", 1],
    ]);
    for (const location of LOCATIONS) expect(locationNumbered(locationNumber(location))).toBe(location);
  });

  it("a number of no place, as of a later release: none", () => {
    expect([0, 12, 99, NaN].map(locationNumbered)).toEqual(Array(4).fill(undefined));
    expect(locationNumber(undefined)).toBe(0);
  });

  it.each(["", "WEUR", "mars", "constructor", "weur "])("%j: none", (text) => expect(isLocation(text)).toBe(false));
});

describe("the place nearest to a sender", () => {
  it.each([
    [undefined, undefined],
    [null, undefined],
    ["weur", undefined],
    [{}, undefined],
    [{ continent: "AN", country: "AQ", longitude: "0.0" }, undefined],
    [{ continent: "XX", country: "T1" }, undefined],
    [{ continent: 7, country: 7, longitude: 7, colo: 7 }, undefined],
    // North America is divided at 100° west.
    [{ continent: "NA", country: "US", longitude: "-122.4194" }, "wnam"],
    [{ continent: "NA", country: "US", longitude: "-100.5" }, "wnam"],
    [{ continent: "NA", country: "US", longitude: "-100" }, "enam"],
    [{ continent: "NA", country: "US", longitude: "-73.98" }, "enam"],
    [{ continent: "NA", country: "CA" }, "enam"],
    [{ continent: "NA", country: "CA", longitude: "" }, "enam"],
    [{ continent: "NA", country: "CA", longitude: "west" }, "enam"],
    [{ continent: "SA", country: "BR", longitude: "-46.63" }, "sam"],
    // Europe at 16° east.
    [{ continent: "EU", country: "FR", longitude: "5.37" }, "weur"],
    [{ continent: "EU", country: "AT", longitude: "16.0" }, "weur"],
    [{ continent: "EU", country: "AT", longitude: "16.37" }, "eeur"],
    [{ continent: "EU", country: "PL", longitude: "21.01" }, "eeur"],
    [{ continent: "EU", country: "RU", longitude: "131.9" }, "apac-ne"],
    [{ continent: "EU", country: "DE" }, "weur"],
    [{ continent: "EU", country: "IS", longitude: "-21.9" }, "weur"],
    [{ continent: "AS", country: "JP", longitude: "139.69" }, "apac-ne"],
    [{ continent: "AS", country: "KR", longitude: "126.97" }, "apac-ne"],
    [{ continent: "AS", country: "SG", longitude: "103.8" }, "apac-se"],
    [{ continent: "AS", country: "VN" }, "apac-se"],
    [{ continent: "AS", country: "IN", longitude: "72.88" }, "apac"],
    [{ continent: "AS" }, "apac"],
    [{ continent: "AS", country: "AE", longitude: "55.3" }, "me"],
    [{ continent: "AS", country: "IL" }, "me"],
    [{ continent: "AS", country: "TR", longitude: "28.98" }, "eeur"],
    [{ continent: "AS", country: "GE", longitude: "44.8" }, "eeur"],
    [{ continent: "OC", country: "AU", longitude: "151.2" }, "oc"],
    [{ continent: "AF", country: "ZA", longitude: "28.0" }, "afr"],
    // The data centre decides before the address of the sender.
    [{ colo: "LAX", continent: "NA", country: "US", longitude: "-73.98" }, "wnam"],
    [{ colo: "ORD", country: "T1", continent: "XX" }, "enam"],
    [{ colo: "MRS" }, "weur"],
    [{ colo: "PRG", continent: "EU", country: "CZ", longitude: "14.4" }, "eeur"],
    [{ colo: "NRT", continent: "NA", country: "US", longitude: "-120" }, "apac-ne"],
    [{ colo: "SIN" }, "apac-se"],
    [{ colo: "SYD" }, "oc"],
    [{ colo: "GRU" }, "sam"],
    [{ colo: "JNB" }, "afr"],
    [{ colo: "DXB" }, "me"],
    [{ colo: "BOM" }, "apac"],
    [{ colo: "ZZZ", continent: "EU", longitude: "5.37" }, "weur"],
    [{ colo: "", continent: "OC" }, "oc"],
    [{ colo: "constructor" }, undefined],
  ])("%j: %s", (cf, location) => expect(nearestLocation(cf)).toBe(location));
});
