/**
 * The API's types, from the server's own OpenAPI document; the build generates `schema.gen.ts`. The command line, the
 * dashboard and the tests share them, so renaming a field breaks the compilation of all its users.
 */
import type { components, paths } from "./schema.gen.ts";

export type { paths };
/** The named shapes: `Schemas["Run"]`. */
export type Schemas = components["schemas"];

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

type Path = keyof paths & string;
/** All addresses of a path: for `/v1/runs/{id}`, `/v1/runs/${string}`. */
type Filled<P extends string> = P extends `${infer Head}{${string}}${infer Tail}`
  ? `${Head}${string}${Filled<Tail>}`
  : P;
type WithoutQuery<Address extends string> = Address extends `${infer P}?${string}` ? P : Address;

type Matched<Address extends string> = {
  [P in Path]: [Address] extends [Filled<P>] ? ([Filled<P>] extends [Address] ? P : never) : never;
}[Path];
/** The document's path that matches an address. */
type PathOf<Address extends string> = Address extends Path ? Address : Matched<Address>;

type OperationOf<M extends Method, Address extends string> = Address extends unknown
  ? paths[PathOf<WithoutQuery<Address>>][Lowercase<M>]
  : never;

type Json<Message> = Message extends { content: { "application/json": infer Value } } ? Value : undefined;
type Answers<Operation> = Operation extends { responses: infer Responses }
  ? { [Status in keyof Responses & (200 | 201 | 202 | 204)]: Json<Responses[Status]> }[keyof Responses &
      (200 | 201 | 202 | 204)]
  : never;

/** Type of the answer for this method and address. */
export type AnswerOf<M extends Method, Address extends string> = Answers<OperationOf<M, Address>>;
/** Type of the JSON body for this method and address. */
export type BodyOf<M extends Method, Address extends string> = Json<
  NonNullable<OperationOf<M, Address> extends { requestBody?: infer Body } ? Body : never>
>;
/** Further arguments of a call after method and address: the body, or a type error when there is no such operation. */
export type Rest<M extends Method, Address extends string, Further extends unknown[]> = [
  OperationOf<M, Address>,
] extends [never | undefined]
  ? [fault: "the API has no such operation"]
  : [body?: BodyOf<M, Address>, ...Further];
/** Type of a row in the list at this address. */
export type RowOf<Address extends string> =
  AnswerOf<"GET", Address> extends { items: readonly (infer Row)[] } ? Row : never;
