# SPDX-License-Identifier: Apache-2.0
"""read_with_vtk.py SNAPSHOT AXES VALUES.npy [FIELD]: prints what VTK makes of a snapshot as JSON, and saves the values of a
field (default u). AXES is the number of axes that have more than one point. The status is 77 where VTK cannot read the file.
This is a process of its own, because VTK and h5py bring HDF5 libraries that do not go together."""
import json
import sys

import numpy as np

try:
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonCore import vtkVersion
    from vtkmodules.vtkIOHDF import vtkHDFReader
except ImportError as error:
    print(error)
    sys.exit(77)

if int(sys.argv[2]) < 3 and (vtkVersion.GetVTKMajorVersion(), vtkVersion.GetVTKMinorVersion()) < (9, 2):
    print(f"VTK {vtkVersion.GetVTKVersion()} crashes on every VTKHDF image of one or two axes")
    sys.exit(77)

reader = vtkHDFReader()
reader.SetFileName(sys.argv[1])
reader.Update()
image = reader.GetOutput()
points = image.GetPointData()
np.save(sys.argv[3], vtk_to_numpy(points.GetArray(sys.argv[4] if len(sys.argv) > 4 else "u")))
print(json.dumps({"dimensions": image.GetDimensions(), "spacing": image.GetSpacing(), "origin": image.GetOrigin(),
                  "last_point": image.GetPoint(image.GetNumberOfPoints() - 1),
                  "arrays": [points.GetArrayName(i) for i in range(points.GetNumberOfArrays())]}))
