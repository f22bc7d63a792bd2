import type { OpenAPIObject } from '@nestjs/swagger';

// `@nestjs/swagger` does not export the parts of its document type by name.
export type PathItemObject = OpenAPIObject['paths'][string];
export type OperationObject = NonNullable<PathItemObject['get']>;
export type ComponentsObject = NonNullable<OpenAPIObject['components']>;
export type ParameterObject = Extract<NonNullable<OperationObject['parameters']>[number], { in: string }>;
export type ResponseObject = Extract<OperationObject['responses'][string], { description: string }>;
export type HeadersObject = NonNullable<ResponseObject['headers']>;
