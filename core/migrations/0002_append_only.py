from django.db import migrations

from core.append_only import protector, remover


class Migration(migrations.Migration):
    dependencies = [("core", "0001_initial")]

    operations = [migrations.RunPython(protector("core_event"), remover("core_event"))]
