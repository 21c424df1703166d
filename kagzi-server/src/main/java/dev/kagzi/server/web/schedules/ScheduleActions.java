package dev.kagzi.server.web.schedules;

import dev.kagzi.engine.schedule.ScheduleStarts.Backfilled;
import dev.kagzi.engine.schedule.ScheduleView;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.server.web.page.Answers;
import dev.kagzi.server.web.page.Flash;
import dev.kagzi.server.web.page.Nav;
import dev.kagzi.server.web.page.PageGroup;
import dev.kagzi.server.web.page.PageHandler;
import dev.kagzi.server.web.page.PageReply;
import dev.kagzi.server.web.page.PageRequest;
import dev.kagzi.server.web.page.PageRoutes;
import dev.kagzi.server.web.page.Problem;
import dev.kagzi.server.web.page.Show;
import dev.kagzi.server.web.page.TimeText;
import java.util.UUID;

/** Pauses, resumes, triggers, back-fills and deletes a schedule. */
final class ScheduleActions implements PageGroup {

  @Override
  public void register(PageRoutes routes) {
    action(routes, "pause", request -> enable(request, false));
    action(routes, "resume", request -> enable(request, true));
    action(routes, "trigger", ScheduleActions::trigger);
    action(routes, "delete", ScheduleActions::delete);
    routes.get("/schedules/{schedule}/backfill", ScheduleActions::planBackfill);
    routes.post("/schedules/{schedule}/backfill", ScheduleActions::backfill);
  }

  private static void action(PageRoutes routes, String name, PageHandler action) {
    routes.post(
        "/schedules/{schedule}/" + name, Answers.refusalsShown(action, ScheduleNames::href));
  }

  private static PageReply enable(PageRequest request, boolean enabled) {
    request
        .engine()
        .schedules()
        .setEnabled(request.namespace(), ScheduleNames.id(request), enabled, null);
    return back(request, Flash.done(enabled ? "The schedule fires again." : "Paused."));
  }

  private static PageReply trigger(PageRequest request) {
    String text = request.form("new_run");
    RunId newId =
        RunId.parse(text).orElseThrow(() -> Refusal.invalid("new_run", text, "the id of a run"));
    RunId run =
        request
            .engine()
            .scheduleStarts()
            .trigger(request.namespace(), ScheduleNames.id(request), newId);
    return back(request, Flash.done("Started run " + run + "."));
  }

  private static PageReply delete(PageRequest request) {
    boolean deleted =
        request.engine().schedules().delete(request.namespace(), ScheduleNames.id(request), null);
    return PageReply.redirect(
        request.links().to("/schedules"),
        deleted ? Flash.done("Deleted.") : Flash.error("There is no such schedule any more."));
  }

  private static PageReply back(PageRequest request, Flash flash) {
    return PageReply.redirect(ScheduleNames.href(request), flash);
  }

  private static PageReply planBackfill(PageRequest request) {
    ScheduleView schedule = ScheduleNames.find(request);
    BackfillPlan plan =
        request.query("from").isEmpty() && request.query("to").isEmpty()
            ? BackfillPlan.empty(schedule, request.now())
            : BackfillPlan.of(request, schedule, request.query("from"), request.query("to"));
    return page(PageReply.OK, request, schedule, plan);
  }

  private static PageReply backfill(PageRequest request) {
    ScheduleView schedule = ScheduleNames.find(request);
    String from = request.form("from");
    String to = request.form("to");
    try {
      Backfilled result =
          request
              .engine()
              .scheduleStarts()
              .backfill(
                  request.namespace(),
                  schedule.id(),
                  TimeText.instant("from", from),
                  TimeText.instant("to", to),
                  requestId(request.form("request_id")));
      return back(request, Flash.done(text(result)));
    } catch (Refusal refusal) {
      BackfillPlan plan = BackfillPlan.refused(schedule, from, to, Problem.of(refusal));
      return page(PageReply.REFUSED, request, schedule, plan);
    }
  }

  private static PageReply page(
      int status, PageRequest request, ScheduleView schedule, BackfillPlan plan) {
    String title = "Back-fill " + ScheduleNames.title(schedule);
    return PageReply.page(status, "schedules/backfill", request.frame(Nav.SCHEDULES, title), plan);
  }

  private static UUID requestId(String text) {
    return RunId.parse(text)
        .orElseThrow(() -> Refusal.invalid("request_id", text, "a UUID"))
        .value();
  }

  private static String text(Backfilled result) {
    String text =
        "Started "
            + Show.runs(result.started())
            + "; "
            + Show.number(result.existed())
            + " slots had one already.";
    return result.conflicts() == 0
        ? text
        : text
            + " "
            + Show.number(result.conflicts())
            + " slots got none, because an open run has their external id.";
  }
}
