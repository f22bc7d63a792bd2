// Nest as it is usually written, with each part like in its own documentation.
import { ValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import compression from 'compression';
import helmet from 'helmet';
import { pinoHttp } from 'pino-http';
import { AppModule } from './app.module';
import { EnvelopeInterceptor } from './envelope.interceptor';

async function bootstrap(): Promise<void> {
  const app = await NestFactory.create<NestExpressApplication>(AppModule, { logger: ['error', 'warn'] });
  app.set('trust proxy', 1);
  app.setGlobalPrefix('api/v1');
  app.use(pinoHttp());
  app.use(helmet());
  app.use(compression());
  app.useGlobalPipes(new ValidationPipe({ whitelist: true, transform: true }));
  app.useGlobalInterceptors(new EnvelopeInterceptor());
  await app.listen(Number(process.env.PORT), String(process.env.HOST));
}

void bootstrap();
