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

/** What an operation is completed from. */
export interface OperationContext {
  path: string;
  method: string;
  access: Access | undefined;
  /** Its method; undefined for one that no controller has declared. */
  route: DeclaredRoute | undefined;
  version: Version;
  /** Whether it answers with one whole resource, which has an entity tag. */
  item: boolean;
  /** Whether it answers with a page of a collection. */
  pages: boolean;
  deprecation: Deprecation | undefined;
  /** The most that its body may have, in bytes, where that is less than elsewhere. */
  bodyLimit: number | undefined;
  /** Of every answer that it gives. */
  headers: HeadersObject;
  /** Of the document; gets the responses that operations share. */
  components: ComponentsObject;
}
