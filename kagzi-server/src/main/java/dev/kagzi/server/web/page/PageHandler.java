package dev.kagzi.server.web.page;

/**
 * Answers a request. Runs on a virtual thread, so it may block. A thrown {@code Refusal} becomes an
 * error page with the refusal's message.
 */
@FunctionalInterface
public interface PageHandler {
  PageReply handle(PageRequest request);
}
