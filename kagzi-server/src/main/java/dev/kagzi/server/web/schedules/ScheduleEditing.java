package dev.kagzi.server.web.schedules;

import dev.kagzi.engine.Engine;
import dev.kagzi.engine.schedule.ScheduleView;
import dev.kagzi.engine.schedule.Schedules;
import dev.kagzi.engine.value.Refusal;
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

/** The form that creates or changes a schedule. */
final class ScheduleEditing implements PageGroup {
  private static final String TEMPLATE = "schedules/form";

  @Override
  public void register(PageRoutes routes) {
    routes.get("/schedules/new", ScheduleEditing::showNew);
    routes.post("/schedules/new", ScheduleEditing::create);
    routes.get("/schedules/preview", ScheduleEditing::preview);
    routes.get("/schedules/{schedule}/edit", ScheduleEditing::showOld);
    routes.post("/schedules/{schedule}/edit", ScheduleEditing::change);
  }

  private static PageReply preview(PageRequest request) {
    String zone = request.query("time_zone");
    return PageReply.fragment(
        "schedules/preview",
        Preview.of(
            request.engine().schedules(),
            request.query("cron_expr"),
            zone.isEmpty() ? "UTC" : zone,
            request.now()));
  }

  private static PageReply showNew(PageRequest request) {
    Frame frame = frame(request, null);
    ScheduleForm form = ScheduleForm.empty(request.query("type"), request.query("queue"));
    return PageReply.page(TEMPLATE, frame, model(request, null, form, Problem.NONE));
  }

  private static PageReply showOld(PageRequest request) {
    ScheduleView before = ScheduleNames.find(request);
    return PageReply.page(
        TEMPLATE,
        frame(request, before),
        model(request, before, ScheduleForm.of(before), Problem.NONE));
  }

  private static PageReply create(PageRequest request) {
    return orShowAgain(
        request,
        null,
        form -> {
          if (form.name().isEmpty()) {
            // Without one, a form that is sent twice would create two schedules.
            throw Refusal.invalid("name", "\"\"", "a name that no other schedule has");
          }
          Engine engine = request.engine();
          ScheduleView created =
              engine
                  .schedules()
                  .create(
                      new Schedules.Creation(
                          request.namespace(),
                          form.spec(null, engine.defaultRetryPolicy()),
                          null,
                          !form.paused(),
                          false,
                          null));
          return done(request, created, "Created.");
        });
  }

  private static PageReply change(PageRequest request) {
    ScheduleView before = ScheduleNames.find(request);
    return orShowAgain(
        request,
        before,
        form -> {
          Engine engine = request.engine();
          ScheduleView changed =
              engine
                  .schedules()
                  .update(
                      request.namespace(),
                      before.id(),
                      form.update(before.spec(), engine.defaultRetryPolicy()),
                      null);
          return done(request, changed, "Saved.");
        });
  }

  private static PageReply done(PageRequest request, ScheduleView schedule, String text) {
    return PageReply.redirect(request.links().to("/schedules/" + schedule.id()), Flash.done(text));
  }

  private interface Saving {
    PageReply save(ScheduleForm form);
  }

  private static PageReply orShowAgain(
      PageRequest request, @Nullable ScheduleView before, Saving saving) {
    ScheduleForm form = ScheduleForm.sent(request);
    if (request.form("action").equals("preview")) {
      return PageReply.page(
          TEMPLATE, frame(request, before), model(request, before, form, Problem.NONE));
    }
    try {
      return saving.save(form);
    } catch (Refusal refusal) {
      return PageReply.page(
          PageReply.REFUSED,
          TEMPLATE,
          frame(request, before),
          model(request, before, form, Problem.of(refusal)));
    }
  }

  private static Frame frame(PageRequest request, @Nullable ScheduleView before) {
    return request.frame(
        Nav.SCHEDULES,
        before == null ? "New schedule" : "Edit schedule " + ScheduleNames.title(before));
  }

  private static ScheduleFormModel model(
      PageRequest request, @Nullable ScheduleView before, ScheduleForm form, Problem problem) {
    String path = before == null ? "/schedules" : "/schedules/" + before.id();
    return new ScheduleFormModel(
        form,
        problem,
        Preview.of(request.engine().schedules(), form.cronExpr(), form.timeZone(), request.now()),
        Suggestions.of(request),
        ScheduleForm.zones(),
        before,
        before == null ? "/schedules/new" : path + "/edit",
        request.links().to(path));
  }
}
