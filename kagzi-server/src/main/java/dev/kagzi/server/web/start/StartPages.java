package dev.kagzi.server.web.start;

import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.server.web.page.Answers;
import dev.kagzi.server.web.page.Flash;
import dev.kagzi.server.web.page.Frame;
import dev.kagzi.server.web.page.Nav;
import dev.kagzi.server.web.page.PageGroup;
import dev.kagzi.server.web.page.PageReply;
import dev.kagzi.server.web.page.PageRequest;
import dev.kagzi.server.web.page.PageRoutes;
import dev.kagzi.server.web.page.Problem;
import dev.kagzi.server.web.page.Suggestions;
import org.jspecify.annotations.Nullable;

/** Starts a run from a form, which may be filled with the start of another run. */
public final class StartPages implements PageGroup {

  /**
   * What the form shows.
   *
   * @param like the run that the form was filled with; null for none
   */
  public record Model(
      StartForm form, Problem problem, @Nullable RunView like, Suggestions suggestions) {

    /** Returns whether the similar run has settings that the form does not show. */
    public boolean hasHiddenSettings() {
      return like != null
          && (like.setup().retryPolicy() != null
              || like.setup().heartbeatTimeoutMs() != null
              || !like.setup().onFailureWorkflow().isEmpty());
    }
  }

  @Override
  public void register(PageRoutes routes) {
    routes.get("/start", StartPages::show);
    routes.post("/start", StartPages::start);
  }

  private static PageReply show(PageRequest request) {
    Frame frame = frame(request);
    RunView like = like(request, request.query("from"));
    StartForm form =
        like == null
            ? StartForm.empty(request.query("type"), request.query("queue"))
            : StartForm.like(like);
    return PageReply.page(
        "start/form", frame, new Model(form, Problem.NONE, like, Suggestions.of(request)));
  }

  private static PageReply start(PageRequest request) {
    StartForm form = StartForm.sent(request);
    RunView like = like(request, form.from());
    try {
      StartResult result =
          Answers.await(request.engine().runs().start(form.request(request.namespace(), like)));
      return PageReply.redirect(
          request.links().run(result.runId()),
          result.existed()
              ? Flash.error("Not started: this run has the external id " + form.externalId() + ".")
              : Flash.done("Started."));
    } catch (Refusal refusal) {
      Model model = new Model(form, Problem.of(refusal), like, Suggestions.of(request));
      return PageReply.page(PageReply.REFUSED, "start/form", frame(request), model);
    }
  }

  private static Frame frame(PageRequest request) {
    return request.frame(Nav.RUNS, "Start a run");
  }

  private static @Nullable RunView like(PageRequest request, String from) {
    if (from.isEmpty()) {
      return null;
    }
    RunId id =
        RunId.parse(from).orElseThrow(() -> Refusal.invalid("from", from, "the id of a run"));
    return request.engine().queries().run(request.namespace(), id);
  }
}
