package dev.kagzi.server.web.page;

import dev.kagzi.engine.value.Refusal;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Waits for answers of the engine. */
public final class Answers {
  private Answers() {}

  /**
   * Returns the answer, or throws what the engine has thrown.
   *
   * @throws Refusal if the engine refuses the call
   */
  public static <T> T await(CompletableFuture<T> answer) {
    try {
      return answer.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }

  /** An action whose refusal is shown by the page that the browser is sent back to. */
  public static PageHandler refusalsShown(PageHandler action, ReturnLink back) {
    return request -> {
      try {
        return action.handle(request);
      } catch (Refusal refusal) {
        return PageReply.redirect(
            back.of(request), Flash.error(String.valueOf(refusal.getMessage())));
      }
    };
  }

  /** The page that an action belongs to. */
  @FunctionalInterface
  public interface ReturnLink {
    String of(PageRequest request);
  }
}
