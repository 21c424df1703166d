package dev.kagzi.server.http;

import dev.kagzi.engine.Engine;
import dev.kagzi.engine.memory.ByteBudget;
import dev.kagzi.engine.run.CallbackResult;
import dev.kagzi.engine.value.CallbackAnswer;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.server.callback.CallbackConfig;
import dev.kagzi.server.callback.CallbackId;
import dev.kagzi.server.callback.CallbackTokens;
import dev.kagzi.server.callback.CallbackUrls;
import dev.kagzi.server.callback.TrustedProxies;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers callbacks. The token in the path is the only credential, so it is checked before the body
 * is read, and it is in no log, metric or error. Thread-safe.
 */
final class CallbackRoutes {
  private static final Logger log = LoggerFactory.getLogger(CallbackRoutes.class);
  private static final int BAD_REQUEST = 400;
  private static final int NOT_FOUND = 404;
  private static final int METHOD_NOT_ALLOWED = 405;
  private static final int GONE = 410;
  private static final int TOO_LARGE = 413;
  private static final int TOO_MANY = 429;
  private static final int UNAVAILABLE = 503;
  private static final int INTERNAL = 500;
  private static final String TOO_LARGE_BODY = "bytes of the body";

  private final CallbackTokens tokens;
  private final TrustedProxies proxies;
  private final int payloadBytesMax;
  private final CallbackBodies bodies;
  private final Supplier<Engine> engine;
  private final WrongTokens wrongTokens = new WrongTokens(InstantSource.system());

  CallbackRoutes(
      CallbackConfig config, int payloadBytesMax, long bodyBytesMax, Supplier<Engine> engine) {
    this.tokens = new CallbackTokens(config.keys());
    this.proxies = config.proxies();
    this.payloadBytesMax = payloadBytesMax;
    // On a small heap, one body of any size must still fit.
    this.bodies =
        new CallbackBodies(
            new ByteBudget(Math.max(bodyBytesMax, payloadBytesMax)), payloadBytesMax);
    this.engine = engine;
  }

  /**
   * Returns whether a request is for a callback. The guards of other pages let it pass, because
   * outside systems do not have the server's token.
   */
  static boolean isCallback(Context context) {
    return context.path().startsWith(CallbackUrls.PATH);
  }

  void register(RoutesConfig routes) {
    routes.post(CallbackUrls.PATH + "{token}", context -> answer(context, false));
    routes.post(CallbackUrls.PATH + "{token}/fail", context -> answer(context, true));
    for (String path : List.of("{token}", "{token}/fail")) {
      routes.get(CallbackUrls.PATH + path, CallbackRoutes::refuseMethod);
      routes.put(CallbackUrls.PATH + path, CallbackRoutes::refuseMethod);
    }
  }

  /** Refuses other methods, for example a GET by a browser that follows the URL as a link. */
  private static void refuseMethod(Context context) {
    context.header("Allow", "POST");
    error(context, METHOD_NOT_ALLOWED, context.method() + " (expected: POST)");
  }

  private void answer(Context context, boolean fails) {
    Optional<CallbackId> id = tokens.read(context.pathParam("token"));
    if (id.isEmpty()) {
      refuseToken(context);
      return;
    }
    try (CallbackBodies.Body body = bodies.read(context.bodyInputStream())) {
      reply(context, answer(id.get(), body, fails));
    } catch (Refusal refusal) {
      refuse(context, refusal);
    } catch (RuntimeException e) {
      // Caught here, because the HTTP server could log the path, which contains the token.
      log.atError()
          .addKeyValue("run", id.get().runId())
          .setCause(e)
          .log("the answer of a callback of a run failed");
      error(context, INTERNAL, "the callback was not answered");
    }
  }

  private CallbackResult answer(CallbackId id, CallbackBodies.Body body, boolean fails) {
    CallbackAnswer answer;
    try {
      if (body.isTooLarge()) {
        throw Refusal.invalid(
            TOO_LARGE_BODY,
            "more than a payload may have",
            "at most " + payloadBytesMax + " bytes");
      }
      byte[] sent = body.bytes();
      answer = fails ? CallbackBody.failed(sent) : CallbackBody.completed(sent);
    } catch (Refusal refusal) {
      // If the callback has been answered before, a repeated request gets the first answer, even if
      // its own body is invalid.
      return engine
          .get()
          .queries()
          .callbackFailed(id.namespace(), id.runId(), id.stepKey())
          .map(failed -> new CallbackResult(failed, true))
          .orElseThrow(() -> refusal);
    }
    return join(
        engine.get().runs().answerCallback(id.namespace(), id.runId(), id.stepKey(), answer));
  }

  private static CallbackResult join(CompletableFuture<CallbackResult> result) {
    try {
      return result.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof Refusal refusal ? refusal : e;
    }
  }

  private static void reply(Context context, CallbackResult result) {
    json(context, "callback", result.failed() ? "failed" : "completed");
  }

  private void refuse(Context context, Refusal refusal) {
    switch (refusal.code()) {
      // NOT_FOUND means that the run was deleted since: a server signed the token, so the run
      // existed.
      case NOT_FOUND, RUN_ENDED, RUN_CONTINUED ->
          error(context, GONE, "the run of this callback has ended");
      default -> {
        switch (refusal.reason()) {
          case UNAVAILABLE, RESOURCE_EXHAUSTED -> {
            context.header("Retry-After", "1");
            error(context, UNAVAILABLE, "the server is busy or starts: try again soon");
          }
          case INVALID_ARGUMENT ->
              error(
                  context,
                  refusal.subject().equals(TOO_LARGE_BODY) ? TOO_LARGE : BAD_REQUEST,
                  String.valueOf(refusal.getMessage()));
          default -> error(context, INTERNAL, "the callback was not answered");
        }
      }
    }
  }

  private void refuseToken(Context context) {
    Duration delay =
        wrongTokens.delay(proxies.caller(context.ip(), context.header("X-Forwarded-For")));
    if (delay.isZero()) {
      error(context, NOT_FOUND, "no such callback");
    } else if (wrongTokens.mayDelay()) {
      context.future(
          () ->
              new CompletableFuture<Void>()
                  .completeOnTimeout(null, delay.toMillis(), TimeUnit.MILLISECONDS)
                  .thenRun(() -> error(context, NOT_FOUND, "no such callback"))
                  .whenComplete((done, failure) -> wrongTokens.answered()));
    } else {
      error(context, TOO_MANY, "too many requests for callbacks that do not exist");
    }
  }

  private static void error(Context context, int status, String message) {
    context.status(status);
    json(context, "error", message);
  }

  private static void json(Context context, String name, String value) {
    context.header("Cache-Control", "no-store").contentType("application/json");
    context.result(
        "{\"%s\": \"%s\"}\n".formatted(name, value.replace("\\", "\\\\").replace("\"", "\\\"")));
  }
}
