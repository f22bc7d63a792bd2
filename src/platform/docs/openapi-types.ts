import type { OpenAPIObject } from '@nestjs/swagger';
import type { Access } from '../auth/access.decorators';
import type { DeclaredRoute } from '../auth/declared-access';
import type { Version } from '../http/api-version';
import type { Deprecation } from '../http/deprecated';

// `@nestjs/swagger` does not export the parts of its document type by name.
export type PathItemObject = OpenAPIObject['paths'][string];
export type OperationObject = NonNullable<PathItemObject['get']>;
export type ComponentsObject = NonNullable<OpenAPIObject['components']>;
export type ParameterObject = Extract<NonNullable<OperationObject['parameters']>[number], { in: string }>;
export type RequestBodyObject = Extract<NonNullable<OperationObject['requestBody']>, { content: unknown }>;
export type ReferenceObject = Extract<OperationObject['responses'][string], { $ref: string }>;
export type ResponseObject = Extract<OperationObject['responses'][string], { description: string }>;
export type HeadersObject = NonNullable<ResponseObject['headers']>;
export type SecurityScheme = Extract<NonNullable<ComponentsObject['securitySchemes']>[string], { type: string }>;
export type SchemaObject = Extract<NonNullable<ParameterObject['schema']>, { type?: unknown }>;

/** What is known about an operation. */
export interface OperationContext {
  path: string;
  method: string;
  access: Access | undefined;
  /** The method of the operation; undefined if no controller has declared it. */
  route: DeclaredRoute | undefined;
  version: Version;
  /** True if it answers with one complete resource, which has an entity tag. */
  item: boolean;
  /** True if it answers with a page. */
  pages: boolean;
  /** True if it deletes a row that others may keep by their foreign keys. */
  kept: boolean;
  deprecation: Deprecation | undefined;
  /** The limit of its body in bytes, if it differs from the general one. */
  bodyLimit: number | undefined;
  /** Headers of all its answers. */
  headers: HeadersObject;
  /** The components of the document. Shared responses are added to it. */
  components: ComponentsObject;
}
