import { describe, expect, it } from "@jest/globals";
import { int32, list, listMap, must, object, oneOf, someOf, text, type TypeOf } from "./shape.ts";

const pet = object(
  {
    name: must(text(1, 10, "Name.")),
    kind: oneOf(["cat", "dog"], "Kind."),
    toys: listMap(["name"], object({ name: must(text(0, 5, "Name.")) }, "Toy."), { max: 3 }, "Toys."),
    ages: list(int32("Age.", { minimum: 0 }), { min: 1 }, "Ages."),
    home: someOf({ street: text(1, 9, "Street.") }, "Home."),
  },
  "Pet.",
);
type Pet = TypeOf<typeof pet>;

describe("shapes", () => {
  it("give the schema", () => {
    expect(pet).toEqual({
      type: "object",
      description: "Pet.",
      required: ["name"],
      properties: {
        name: { type: "string", description: "Name.", minLength: 1, maxLength: 10 },
        kind: { type: "string", description: "Kind.", enum: ["cat", "dog"] },
        toys: {
          type: "array",
          description: "Toys.",
          maxItems: 3,
          items: {
            type: "object",
            description: "Toy.",
            required: ["name"],
            properties: { name: { type: "string", description: "Name.", maxLength: 5 } },
          },
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
        },
        ages: {
          type: "array",
          description: "Ages.",
          minItems: 1,
          items: { type: "integer", format: "int32", description: "Age.", minimum: 0 },
          "x-kubernetes-list-type": "atomic",
        },
        home: {
          type: "object",
          description: "Home.",
          minProperties: 1,
          properties: { street: { type: "string", description: "Street.", minLength: 1, maxLength: 9 } },
        },
      },
    });
  });

  it("give the type (checked by tsc)", () => {
    const full: Pet = { name: "Mia", kind: "cat", toys: [{ name: "ball" }], ages: [3], home: { street: "Long" } };
    const least: Pet = { name: "Mia" };
    // @ts-expect-error name is required
    const nameless: Pet = {};
    // @ts-expect-error a bird is not in the list
    const bird: Pet = { name: "Mia", kind: "bird" };
    // @ts-expect-error deeply read-only
    full.toys?.push({ name: "rope" });
    expect([full.kind, least.kind, nameless.name, bird.kind]).toEqual(["cat", undefined, undefined, "bird"]);
  });
});
