import { GUARDS_METADATA, HOST_METADATA, INTERCEPTORS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import type { DeclaredRoute } from '../auth/declared-access';
import { type Parameter, parametersOf } from '../http/route-parameters';

/** What the application has that may fill a parameter before the handler is called. */
export interface Fillers {
  /** True with `cookies: { secret }`. */
  signsCookies: boolean;
  /** Whether requests pass middleware, beside the service's own, before they get to a method of a controller. */
  hasMiddleware: (method: object) => boolean;
  /** True if all routes have an interceptor. */
  hasInterceptor: boolean;
  /** True if all routes have a guard beside the service's own. */
  hasGuard: boolean;
}

interface Rule {
  kinds: RouteParamtypes[];
  isFilled: (fillers: Fillers, route: DeclaredRoute, parameter: Parameter) => boolean;
  reason: string;
}

const has = (key: string, { targets }: DeclaredRoute) => targets.some((target) => Reflect.hasMetadata(key, target));

const RULES: Rule[] = [
  {
    kinds: [RouteParamtypes.SIGNED_COOKIES],
    isFilled: ({ signsCookies, hasMiddleware }, { targets }) => signsCookies || hasMiddleware(targets[0]),
    reason:
      'These handlers take @SignedCookies(), and there is no secret to compare signatures with; write ' +
      'run(AppModule, { nest: { cookies: { secret } } }), or app.use(cookieParser(secret)) in `prepare` of run()',
  },
  {
    kinds: [RouteParamtypes.SESSION],
    isFilled: ({ hasMiddleware, hasInterceptor, hasGuard }, route) =>
      hasInterceptor ||
      hasGuard ||
      hasMiddleware(route.targets[0]) ||
      [GUARDS_METADATA, INTERCEPTORS_METADATA].some((key) => has(key, route)),
    reason:
      'These handlers take @Session(), and nothing gives a request a session; add app.use(session({ ... })) of express-session ' +
      'in `prepare` of run(), or a guard, an interceptor or middleware of a module that sets request.session',
  },
  {
    kinds: [RouteParamtypes.FILE, RouteParamtypes.FILES],
    isFilled: ({ hasMiddleware, hasInterceptor }, route) =>
      hasMiddleware(route.targets[0]) || hasInterceptor || has(INTERCEPTORS_METADATA, route),
    reason:
      'These handlers take @UploadedFile() or @UploadedFiles(), and nothing reads files of a form; add ' +
      "@UseInterceptors(FileInterceptor('file')) or FilesInterceptor, FileFieldsInterceptor, AnyFilesInterceptor",
  },
  {
    kinds: [RouteParamtypes.HOST],
    isFilled: (_fillers, { owner }, { name }) => hostsOf(owner).some((host) => isIn(host, name)),
    reason:
      'These handlers take a @HostParam() that no host of their controller has; write @Controller({ host }) with ' +
      "':account.example.com' for @HostParam('account')",
  },
];

/** The names of routes with parameters that would be undefined in each request, or fail in each, by the reason. */
export function unfilledParameters(routes: DeclaredRoute[], fillers: Fillers): Map<string, DeclaredRoute[]> {
  const found = RULES.map(({ kinds, isFilled, reason }): [string, DeclaredRoute[]] => {
    const isUnfilled = (route: DeclaredRoute) =>
      parametersOf(route.targets[0], route.owner).some(
        (parameter) => kinds.includes(parameter.kind) && !isFilled(fillers, route, parameter),
      );
    return [reason, routes.filter(isUnfilled)];
  });
  return new Map(found.filter(([, { length }]) => length > 0));
}

function hostsOf(owner: object): (string | RegExp)[] {
  return [(Reflect.getMetadata(HOST_METADATA, owner) ?? []) as string | RegExp | (string | RegExp)[]].flat();
}

/** @param name that of a part of the host, or undefined for all of them */
function isIn(host: string | RegExp, name: string | undefined): boolean {
  if (name === undefined) return true;
  const names =
    typeof host === 'string' ? host.matchAll(/[:*]"?([\p{ID_Continue}$]+)/gu) : host.source.matchAll(/\(\?<(\w+)>/g);
  return [...names].some(([, found]) => found === name);
}
