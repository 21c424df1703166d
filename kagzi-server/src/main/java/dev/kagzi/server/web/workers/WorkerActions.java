package dev.kagzi.server.web.workers;

import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.server.web.page.Answers;
import dev.kagzi.server.web.page.Flash;
import dev.kagzi.server.web.page.PageGroup;
import dev.kagzi.server.web.page.PageReply;
import dev.kagzi.server.web.page.PageRequest;
import dev.kagzi.server.web.page.PageRoutes;
import dev.kagzi.server.web.page.Show;

/** Drains a worker, or takes it offline by force. */
final class WorkerActions implements PageGroup {

  @Override
  public void register(PageRoutes routes) {
    routes.post(
        "/workers/{worker}/drain", Answers.refusalsShown(WorkerActions::drain, WorkerPages::href));
    routes.post(
        "/workers/{worker}/offline",
        Answers.refusalsShown(WorkerActions::forceOffline, WorkerPages::href));
  }

  private static PageReply drain(PageRequest request) {
    boolean draining =
        Answers.await(
            request.engine().workers().drain(request.namespace(), WorkerPages.id(request)));
    return PageReply.redirect(
        WorkerPages.href(request),
        draining
            ? Flash.done("The worker takes no new runs and ends when its runs have.")
            : Flash.error("Not drained: the worker is offline already."));
  }

  private static PageReply forceOffline(PageRequest request) {
    String requestId = request.form("request_id");
    int held =
        Answers.await(
            request
                .engine()
                .workers()
                .forceOffline(
                    request.namespace(),
                    WorkerPages.id(request),
                    request.form("reason"),
                    RunId.parse(requestId)
                        .orElseThrow(() -> Refusal.invalid("request_id", requestId, "a UUID"))
                        .value()));
    return PageReply.redirect(
        WorkerPages.href(request),
        Flash.done(
            "The worker is offline. "
                + (held == 0
                    ? "It had no runs."
                    : "Other workers continue its runs: " + Show.number(held) + ".")));
  }
}
