/**
 * The API's types, from the OpenAPI document that the server gives of itself: `schema.gen.ts` is made by the build. The
 * command line, the dashboard and the tests share them, so a field that is renamed compiles in none of them.
 */
import type { components, paths } from "./schema.gen.ts";

export type { paths };
/** The named shapes: `Schemas["Run"]`. */
export type Schemas = components["schemas"];

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

type Path = keyof paths & string;
/** The addresses of a path: those of `/v1/runs/{id}` are `/v1/runs/${string}`. */
type Filled<P extends string> = P extends `${infer Head}{${string}}${infer Tail}`
  ? `${Head}${string}${Filled<Tail>}`
  : P;
type WithoutQuery<Address extends string> = Address extends `${infer P}?${string}` ? P : Address;

type Matched<Address extends string> = {
  [P in Path]: [Address] extends [Filled<P>] ? ([Filled<P>] extends [Address] ? P : never) : never;
}[Path];
/** The path of the document that an address is one of. */
type PathOf<Address extends string> = Address extends Path ? Address : Matched<Address>;

type OperationOf<M extends Method, Address extends string> = Address extends unknown
  ? paths[PathOf<WithoutQuery<Address>>][Lowercase<M>]
  : never;

type Json<Message> = Message extends { content: { "application/json": infer Value } } ? Value : undefined;
type Answers<Operation> = Operation extends { responses: infer Responses }
  ? { [Status in keyof Responses & (200 | 201 | 202 | 204)]: Json<Responses[Status]> }[keyof Responses &
      (200 | 201 | 202 | 204)]
  : never;

/** What the operation of that method and address answers. */
export type AnswerOf<M extends Method, Address extends string> = Answers<OperationOf<M, Address>>;
/** What it takes, as JSON. */
export type BodyOf<M extends Method, Address extends string> = Json<
  NonNullable<OperationOf<M, Address> extends { requestBody?: infer Body } ? Body : never>
>;
/** What follows method and address in a call: the body, or what says that there is no such operation. */
export type Rest<M extends Method, Address extends string, Further extends unknown[]> = [
  OperationOf<M, Address>,
] extends [never | undefined]
  ? [fault: "the API has no such operation"]
  : [body?: BodyOf<M, Address>, ...Further];
/** A row of the list at that address. */
export type RowOf<Address extends string> =
  AnswerOf<"GET", Address> extends { items: readonly (infer Row)[] } ? Row : never;
