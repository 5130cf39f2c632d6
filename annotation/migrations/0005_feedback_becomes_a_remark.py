"""What experts wrote so far becomes a remark in general, so that pages and API know one kind of feedback."""

from django.db import migrations


def to_remarks(apps, schema_editor):
    submissions = apps.get_model("annotation", "Submission").objects
    remarks = apps.get_model("annotation", "AuditRemark").objects
    told = submissions.filter(outcome="rejected", remarks=None).exclude(feedback="")
    for submission in told.iterator():
        remarks.create(
            submission=submission,
            position=1,
            part="general",
            text=submission.feedback,
            by_id=submission.audited_by_id,
            at=submission.audited_at,
        )


class Migration(migrations.Migration):
    dependencies = [("annotation", "0004_remarks_and_times")]

    operations = [migrations.RunPython(to_remarks, migrations.RunPython.noop)]
