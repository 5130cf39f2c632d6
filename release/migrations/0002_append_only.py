from django.db import migrations

from core.append_only import protector, remover


class Migration(migrations.Migration):
    """What is frozen in a release is never changed."""

    dependencies = [("release", "0001_initial")]

    operations = [
        migrations.RunPython(protector("release_releaseitem"), remover("release_releaseitem")),
    ]
